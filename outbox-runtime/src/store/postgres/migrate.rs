//! Creates and updates the tables, and checks that they suit this build.
//!
//! The versions stand in a table of our own, so the application's migrations and ours know nothing of each other.

use super::{
    PostgresStore,
    error::{during, waited_for_lock},
    precondition,
    transaction::commit_own,
};
use crate::store::StoreError;
use sqlx::{PgConnection, Postgres, Row, Transaction};
use std::time::Duration;

/// One numbered change of the tables; never edited once it was released.
struct Migration {
    version: i32,
    /// The oldest build (by the number of its last migration) that may use the tables afterwards.
    build_version_min: i32,
    sql: &'static str,
}

const MIGRATIONS: [Migration; 7] = [
    Migration { version: 1, build_version_min: 1, sql: include_str!("migrations/0001_create_log.sql") },
    Migration { version: 2, build_version_min: 2, sql: include_str!("migrations/0002_create_leases.sql") },
    Migration { version: 3, build_version_min: 3, sql: include_str!("migrations/0003_create_held.sql") },
    Migration { version: 4, build_version_min: 3, sql: include_str!("migrations/0004_create_marker.sql") },
    Migration { version: 5, build_version_min: 3, sql: include_str!("migrations/0005_create_scheduled.sql") },
    Migration { version: 6, build_version_min: 3, sql: include_str!("migrations/0006_create_audit.sql") },
    Migration { version: 7, build_version_min: 3, sql: include_str!("migrations/0007_create_replay.sql") },
];

/// The version of tables that this build is made for.
const BUILD_VERSION: i32 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// The pause between tries to become the one migrator, and how often it is tried: for half a minute.
const LOCK_PAUSE: Duration = Duration::from_millis(100);
const LOCK_TRIES_MAX: u32 = 300;

/// The same for tables that others have in use, each try a moment: for a minute.
const TABLE_PAUSE: Duration = Duration::from_millis(500);
const TABLE_TRIES_MAX: u32 = 120;

/// Runs what is missing, each migration in a transaction of its own together with its number.
pub(super) async fn migrate(store: &PostgresStore) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        match run_next(store).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if waited_for_lock(&error) && tries < TABLE_TRIES_MAX => {
                tries += 1;
                tokio::time::sleep(TABLE_PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
    let mut connection = store.pool().acquire().await.map_err(during("check the tables"))?;
    precondition::check(store, &mut connection).await
}

/// Runs one migration; `false` when none was missing.
async fn run_next(store: &PostgresStore) -> Result<bool, StoreError> {
    let mut tx = begin(store).await?;
    sqlx::query(store.sql().limit_lock_wait.clone())
        .execute(&mut *tx)
        .await
        .map_err(during("limit the wait for locks"))?;
    let version = version_or_create(store, &mut tx).await?;
    refuse_newer(&version)?;
    let next = MIGRATIONS.iter().find(|migration| migration.version > version.version);
    match next {
        Some(migration) => run(store, &mut tx, migration).await?,
        None => set_slot_secs(store, &mut tx, version.slot_secs).await?,
    }
    commit_own(tx).await?;
    Ok(next.is_some())
}

/// Checks the version, then as many preconditions as the role may read.
pub(super) async fn check(store: &PostgresStore) -> Result<(), StoreError> {
    let mut connection = store.pool().acquire().await.map_err(during("check the tables"))?;
    check_version(store, &mut connection).await?;
    precondition::check(store, &mut connection).await
}

/// Whether the tables are there, and of a version that this build can use.
pub(super) async fn check_version(
    store: &PostgresStore,
    connection: &mut PgConnection,
) -> Result<(), StoreError> {
    let (_, has_tables) = find_objects(store, &mut *connection).await?;
    if !has_tables {
        return Err(outdated("the tables of the outbox are missing".to_owned()));
    }
    let version = select_version(store, connection).await?;
    refuse_newer(&version)?;
    if version.version < BUILD_VERSION {
        return Err(outdated(format!(
            "the tables of the outbox have version {}, but this build needs version {BUILD_VERSION}",
            version.version
        )));
    }
    Ok(())
}

struct Version {
    version: i32,
    build_version_min: i32,
    slot_secs: i64,
}

fn refuse_newer(version: &Version) -> Result<(), StoreError> {
    if version.build_version_min <= BUILD_VERSION {
        return Ok(());
    }
    Err(StoreError::Schema {
        problem: format!(
            "the tables of the outbox have version {}, which needs a build of version {} or newer, and this build has \
             version {BUILD_VERSION}",
            version.version, version.build_version_min
        ),
        fix: "deploy the newer build".to_owned(),
    })
}

fn outdated(problem: String) -> StoreError {
    StoreError::Schema {
        problem,
        fix: "run `outbox migrate` under the role that owns the tables, and compare schema and prefix"
            .to_owned(),
    }
}

/// Begins a transaction as the one migrator.
///
/// The lock is tried again and again in transactions of their own. A statement that waits for it would hold a snapshot,
/// and an index that is built concurrently meanwhile waits for every snapshot: with a lock of its own in the way of the
/// migrator, that is a deadlock.
pub(super) async fn begin(store: &PostgresStore) -> Result<Transaction<'static, Postgres>, StoreError> {
    let action = "become the one migrator";
    for _ in 0..LOCK_TRIES_MAX {
        let begin = store.sql().begin_migration.clone();
        let mut tx = store.pool().begin_with(begin).await.map_err(during(action))?;
        let is_locked: bool = sqlx::query_scalar(store.sql().try_migration_lock.clone())
            .bind(store.config().migration_lock())
            .fetch_one(&mut *tx)
            .await
            .map_err(during(action))?;
        if is_locked {
            return Ok(tx);
        }
        tx.rollback().await.map_err(during(action))?;
        tokio::time::sleep(LOCK_PAUSE).await;
    }
    let source = "another migration is still running";
    Err(StoreError::Database { action, transient: true, source: source.into() })
}

async fn version_or_create(
    store: &PostgresStore,
    connection: &mut PgConnection,
) -> Result<Version, StoreError> {
    let action = "create the table of versions";
    let (has_schema, has_tables) = find_objects(store, connection).await?;
    if !has_schema {
        sqlx::query(store.sql().create_schema.clone())
            .execute(&mut *connection)
            .await
            .map_err(during("create the schema of the outbox"))?;
    }
    if !has_tables {
        sqlx::query(store.sql().create_version.clone())
            .execute(&mut *connection)
            .await
            .map_err(during(action))?;
        sqlx::query(store.sql().insert_version.clone())
            .bind(slot_secs(store))
            .execute(&mut *connection)
            .await
            .map_err(during(action))?;
    }
    select_version(store, connection).await
}

async fn find_objects(
    store: &PostgresStore,
    connection: &mut PgConnection,
) -> Result<(bool, bool), StoreError> {
    sqlx::query_as(store.sql().find_objects.clone())
        .fetch_one(connection)
        .await
        .map_err(during("look for the tables"))
}

async fn select_version(store: &PostgresStore, connection: &mut PgConnection) -> Result<Version, StoreError> {
    let action = "read the version of the tables";
    let row = sqlx::query(store.sql().select_version.clone())
        .fetch_one(connection)
        .await
        .map_err(during(action))?;
    Ok(Version {
        version: row.try_get(0).map_err(during(action))?,
        build_version_min: row.try_get(1).map_err(during(action))?,
        slot_secs: row.try_get(2).map_err(during(action))?,
    })
}

async fn run(
    store: &PostgresStore,
    connection: &mut PgConnection,
    migration: &Migration,
) -> Result<(), StoreError> {
    let action = "run a migration of the outbox";
    let script = store.sql().script(migration.sql);
    sqlx::raw_sql(script).execute(&mut *connection).await.map_err(during(action))?;
    sqlx::query(store.sql().update_version.clone())
        .bind(migration.version)
        .bind(migration.build_version_min)
        .execute(connection)
        .await
        .map_err(during(action))?;
    Ok(())
}

/// A retention that is configured decides how long a leaf takes rows; a changed one is written into the default of `slot`.
async fn set_slot_secs(
    store: &PostgresStore,
    connection: &mut PgConnection,
    current: i64,
) -> Result<(), StoreError> {
    let action = "set the retention of the log";
    if store.config().retention.is_none() || current == slot_secs(store) {
        return Ok(());
    }
    sqlx::query(store.sql().alter_slot_default.clone())
        .execute(&mut *connection)
        .await
        .map_err(during(action))?;
    sqlx::query(store.sql().update_slot_secs.clone())
        .bind(slot_secs(store))
        .execute(connection)
        .await
        .map_err(during(action))?;
    Ok(())
}

fn slot_secs(store: &PostgresStore) -> i64 {
    i64::try_from(store.config().slot_secs()).unwrap_or(i64::MAX)
}
