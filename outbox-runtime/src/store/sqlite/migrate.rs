//! Creates and updates the tables. SQLite has no owner's role apart, so a store migrates itself when it opens.

use super::{
    SqliteStore,
    row::{database, get},
    statements::quote,
    transaction,
};
use crate::store::{StoreError, sql::fill};
use sqlx::sqlite::SqliteRow;

/// The numbered migrations, never edited once released.
const MIGRATIONS: [&str; 5] = [
    include_str!("migrations/0001_tables.sql"),
    include_str!("migrations/0002_create_marker.sql"),
    include_str!("migrations/0003_create_scheduled.sql"),
    include_str!("migrations/0004_create_audit.sql"),
    include_str!("migrations/0005_create_replay.sql"),
];

/// The version of this program towards the tables; grows with the migrations.
const BUILD: i64 = MIGRATIONS.len() as i64;

/// The lowest program version that the newest tables still serve.
const BUILD_MINIMUM: i64 = 1;

/// Runs the migrations that are missing, in one transaction. Tables that are up to date are only read, so that nobody
/// waits for a long writer to look at them.
pub(super) async fn migrate(store: &SqliteStore) -> Result<(), StoreError> {
    // Without the table there is no version; the transaction below finds out what is really the matter.
    let seen = sqlx::query(store.statements.select_meta.clone()).fetch_optional(&store.pool).await;
    if let Ok(Some(row)) = seen
        && is_up_to_date(&Meta::read(&row)?)?
    {
        return Ok(());
    }
    run_missing(store).await
}

async fn run_missing(store: &SqliteStore) -> Result<(), StoreError> {
    let statements = &store.statements;
    let mut tx = transaction::begin(store).await?;
    sqlx::query(statements.create_meta.clone()).execute(&mut *tx).await.map_err(failed())?;
    let row = sqlx::query(statements.select_meta.clone()).fetch_optional(&mut *tx).await.map_err(failed())?;
    let meta = row.map_or(Ok(Meta::default()), |row| Meta::read(&row))?;
    if is_up_to_date(&meta)? {
        return Ok(());
    }
    let done = usize::try_from(meta.version).unwrap_or(0);
    for migration in &MIGRATIONS[done..] {
        let script = fill(migration, |name| quote(&statements.prefix, name));
        sqlx::raw_sql(script).execute(&mut *tx).await.map_err(failed())?;
    }
    sqlx::query(statements.upsert_meta.clone())
        .bind(BUILD)
        .bind(BUILD_MINIMUM)
        .execute(&mut *tx)
        .await
        .map_err(failed())?;
    tx.commit().await.map_err(failed())
}

/// What the tables say of themselves.
#[derive(Debug, Default)]
struct Meta {
    version: i64,
    build_minimum: i64,
}

impl Meta {
    fn read(row: &SqliteRow) -> Result<Self, StoreError> {
        Ok(Self { version: get(row, "version")?, build_minimum: get(row, "build_minimum")? })
    }
}

/// Whether nothing is missing; an error when the tables need a newer program.
fn is_up_to_date(meta: &Meta) -> Result<bool, StoreError> {
    if meta.build_minimum <= BUILD {
        return Ok(meta.version >= BUILD);
    }
    let minimum = meta.build_minimum;
    Err(StoreError::Schema {
        problem: format!(
            "the tables need a program of version {minimum} or higher, and this one has {BUILD}"
        ),
        fix: "start the newer build of the program".to_owned(),
    })
}

fn failed() -> impl FnOnce(sqlx::Error) -> StoreError {
    database("migrate the tables")
}
