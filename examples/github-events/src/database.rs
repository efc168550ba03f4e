//! The application's own tables, on either database. Both read the same SQL.

use crate::Result;
use outbox::{Outbox, Store, Tx, postgres::PostgresStore, sqlite::SqliteStore, store::OpenTx};
use sqlx::{PgConnection, Row, SqliteConnection};

/// A store whose connections this program can write its own tables with.
pub(crate) trait Database: Store {
    /// The connection, with its database's name on it.
    fn lend(connection: &mut Self::Connection) -> Connection<'_>;

    /// The rows of a query without values whose columns are all text. Unlike a transaction of the outbox it takes no
    /// lock for writing.
    fn rows(&self, sql: &'static str) -> impl Future<Output = sqlx::Result<Vec<Vec<String>>>> + Send;
}

impl Database for SqliteStore {
    fn lend(connection: &mut SqliteConnection) -> Connection<'_> {
        Connection::Sqlite(connection)
    }

    async fn rows(&self, sql: &'static str) -> sqlx::Result<Vec<Vec<String>>> {
        sqlx::query(sql).fetch_all(self.pool()).await?.iter().map(texts).collect()
    }
}

impl Database for PostgresStore {
    fn lend(connection: &mut PgConnection) -> Connection<'_> {
        Connection::Postgres(connection)
    }

    async fn rows(&self, sql: &'static str) -> sqlx::Result<Vec<Vec<String>>> {
        sqlx::query(sql).fetch_all(self.pool()).await?.iter().map(texts).collect()
    }
}

/// The connection of an open transaction.
#[derive(Debug)]
pub(crate) enum Connection<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

/// A value of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'v> {
    Text(&'v str),
    Number(i64),
}

/// Binds values, whichever the database.
macro_rules! bound {
    ($sql:expr, $values:expr) => {
        $values.iter().fold(sqlx::query($sql), |query, value| match *value {
            Value::Text(text) => query.bind(text.to_owned()),
            Value::Number(number) => query.bind(number),
        })
    };
}

impl Connection<'_> {
    /// Runs a statement; gives how many rows it changed.
    pub(crate) async fn execute(&mut self, sql: &'static str, values: &[Value<'_>]) -> sqlx::Result<u64> {
        Ok(match self {
            Self::Sqlite(connection) => bound!(sql, values).execute(&mut **connection).await?.rows_affected(),
            Self::Postgres(connection) => {
                bound!(sql, values).execute(&mut **connection).await?.rows_affected()
            }
        })
    }

    /// Runs a query whose columns are all text.
    pub(crate) async fn fetch(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> sqlx::Result<Vec<Vec<String>>> {
        match self {
            Self::Sqlite(connection) => {
                bound!(sql, values).fetch_all(&mut **connection).await?.iter().map(texts).collect()
            }
            Self::Postgres(connection) => {
                bound!(sql, values).fetch_all(&mut **connection).await?.iter().map(texts).collect()
            }
        }
    }
}

fn texts<R: Row>(row: &R) -> sqlx::Result<Vec<String>>
where
    usize: sqlx::ColumnIndex<R>,
    for<'r> String: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
{
    (0..row.len()).map(|column| row.try_get(column)).collect()
}

/// The connection of an open transaction, for the application's own statements.
pub(crate) fn lent<S: Database>(tx: &mut Tx<S>) -> Connection<'_> {
    S::lend(tx.connection())
}

/// Creates the application's tables, unless they are there.
pub(crate) async fn create_tables<S: Database>(outbox: &Outbox<S>) -> Result<()> {
    let mut tx = outbox.begin().await?;
    for statement in [
        include_str!("sql/create_delivery.sql"),
        include_str!("sql/create_activity.sql"),
        include_str!("sql/create_chain.sql"),
        include_str!("sql/create_work.sql"),
    ] {
        lent(&mut tx).execute(statement, &[]).await?;
    }
    Ok(tx.commit().await?)
}

/// The number that a query without values gives.
pub(crate) async fn number<S: Database>(outbox: &Outbox<S>, sql: &'static str) -> Result<i64> {
    let rows = outbox.store().rows(sql).await?;
    Ok(rows.first().and_then(|row| row.first()).ok_or("a count has one row")?.parse()?)
}

/// How many events each of the two consumers has counted.
pub(crate) async fn handled<S: Database>(outbox: &Outbox<S>) -> Result<[i64; 2]> {
    let activity = number(outbox, include_str!("sql/sum_activity.sql")).await?;
    let work = number(outbox, include_str!("sql/sum_work.sql")).await?;
    Ok([activity, work])
}
