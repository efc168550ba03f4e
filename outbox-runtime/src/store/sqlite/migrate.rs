//! Creates and updates the tables. SQLite has no owner's role apart, so a store migrates itself when it opens.

use super::{SqliteStore, row::database, statements::quote, transaction};
use crate::store::{StoreError, sql::fill};
use sqlx::Row;

/// The numbered migrations, never edited once released.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/0001_tables.sql")];

/// The version of this program towards the tables; grows with the migrations.
const BUILD: i64 = MIGRATIONS.len() as i64;

/// The lowest program version that the newest tables still serve.
const BUILD_MINIMUM: i64 = 1;

/// Runs the migrations that are missing, in one transaction.
pub(super) async fn migrate(store: &SqliteStore) -> Result<(), StoreError> {
    let statements = &store.statements;
    let mut tx = transaction::begin(store).await?;
    let failed = || database("migrate the tables");
    sqlx::query(statements.create_meta.clone()).execute(&mut *tx).await.map_err(failed())?;
    let meta = sqlx::query(statements.select_meta.clone()).fetch_optional(&mut *tx).await.map_err(failed())?;
    let (version, build_minimum): (i64, i64) = match meta {
        Some(row) => (row.try_get(0).map_err(failed())?, row.try_get(1).map_err(failed())?),
        None => (0, 0),
    };
    if build_minimum > BUILD {
        return Err(StoreError::Schema {
            problem: format!(
                "the tables need a program of version {build_minimum} or higher, and this one has {BUILD}"
            ),
            fix: "start the newer build of the program".to_owned(),
        });
    }
    if version >= BUILD {
        return Ok(());
    }
    let done = usize::try_from(version).unwrap_or(0);
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
