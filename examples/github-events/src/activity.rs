//! The consumers: what happens in each repository, counted.
//!
//! A handler writes in the transaction of one database, so each database has its own two handlers, a line long.

use crate::database::{Connection, Value};
use github_webhook_events::{
    Commented, Delivery, Forked, IssueChanged, Noticed, PullRequestChanged, Pushed, RefChanged,
    ReleaseChanged, Starred,
};
use outbox::{EventSet, consumer};
use sqlx::{PgTransaction, SqliteTransaction};

/// Everything that is told.
#[derive(Debug, EventSet)]
enum Told {
    Pushed(Pushed),
    RefChanged(RefChanged),
    IssueChanged(IssueChanged),
    Commented(Commented),
    PullRequestChanged(PullRequestChanged),
    ReleaseChanged(ReleaseChanged),
    Starred(Starred),
    Forked(Forked),
    Noticed(Noticed),
}

/// What counts as work on the code.
#[derive(Debug, EventSet)]
enum Worked {
    Pushed(Pushed),
    IssueChanged(IssueChanged),
    PullRequestChanged(PullRequestChanged),
}

#[consumer(name = "activity.sqlite")]
async fn activity_on_sqlite(told: Told, tx: &mut SqliteTransaction<'_>) -> sqlx::Result<()> {
    count_activity(Connection::Sqlite(tx), &told).await
}

#[consumer(name = "activity.postgres")]
async fn activity_on_postgres(told: Told, tx: &mut PgTransaction<'_>) -> sqlx::Result<()> {
    count_activity(Connection::Postgres(tx), &told).await
}

#[consumer(name = "work.sqlite")]
async fn work_on_sqlite(worked: Worked, tx: &mut SqliteTransaction<'_>) -> sqlx::Result<()> {
    count_work(Connection::Sqlite(tx), &worked).await
}

#[consumer(name = "work.postgres")]
async fn work_on_postgres(worked: Worked, tx: &mut PgTransaction<'_>) -> sqlx::Result<()> {
    count_work(Connection::Postgres(tx), &worked).await
}

/// The consumers that run on a database, and those that do not.
pub(crate) fn consumers_of(database: &str) -> ([&'static str; 2], [&'static str; 2]) {
    let sqlite = ["activity.sqlite", "work.sqlite"];
    let postgres = ["activity.postgres", "work.postgres"];
    if database == "sqlite" { (sqlite, postgres) } else { (postgres, sqlite) }
}

/// Adds an event to the counts of its repository, and to the chain that shows in which order they came.
async fn count_activity(mut connection: Connection<'_>, told: &Told) -> sqlx::Result<()> {
    let (repository, delivery) = told.origin();
    let row = [
        Value::Text(repository),
        Value::Text(&delivery.kind),
        Value::Text(delivery.action.as_deref().unwrap_or_default()),
    ];
    connection.execute(include_str!("sql/count_activity.sql"), &row).await?;
    let name = [Value::Text(repository)];
    let links = connection.fetch(include_str!("sql/select_chain.sql"), &name).await?;
    let chain = chained(links.first().map_or("", |row| &row[0]), &delivery.id);
    let row = [Value::Text(repository), Value::Text(&chain)];
    connection.execute(include_str!("sql/upsert_chain.sql"), &row).await?;
    Ok(())
}

async fn count_work(mut connection: Connection<'_>, worked: &Worked) -> sqlx::Result<()> {
    let (repository, work) = worked.amount();
    let row = [
        Value::Text(repository),
        Value::Number(work.commits),
        Value::Number(work.issues_opened),
        Value::Number(work.pull_requests_merged),
    ];
    connection.execute(include_str!("sql/count_work.sql"), &row).await?;
    Ok(())
}

/// The chain with one more link: equal for equal deliveries in equal order, and for nothing else. FNV-1a, 64 bits.
pub(crate) fn chained(chain: &str, delivery: &str) -> String {
    let bytes = chain.bytes().chain(*b" ").chain(delivery.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// What one event adds to the counts of work.
#[derive(Debug, Default)]
struct Work {
    commits: i64,
    issues_opened: i64,
    pull_requests_merged: i64,
}

impl Told {
    fn origin(&self) -> (&str, &Delivery) {
        match self {
            Self::Pushed(event) => (&event.repository, &event.delivery),
            Self::RefChanged(event) => (&event.repository, &event.delivery),
            Self::IssueChanged(event) => (&event.repository, &event.delivery),
            Self::Commented(event) => (&event.repository, &event.delivery),
            Self::PullRequestChanged(event) => (&event.repository, &event.delivery),
            Self::ReleaseChanged(event) => (&event.repository, &event.delivery),
            Self::Starred(event) => (&event.repository, &event.delivery),
            Self::Forked(event) => (&event.repository, &event.delivery),
            Self::Noticed(event) => (&event.repository, &event.delivery),
        }
    }
}

impl Worked {
    fn amount(&self) -> (&str, Work) {
        let mut work = Work::default();
        let repository = match self {
            Self::Pushed(event) => {
                work.commits = i64::try_from(event.commits.len()).unwrap_or(i64::MAX);
                &event.repository
            }
            Self::IssueChanged(event) => {
                work.issues_opened = i64::from(event.delivery.action.as_deref() == Some("opened"));
                &event.repository
            }
            Self::PullRequestChanged(event) => {
                let is_closed = event.delivery.action.as_deref() == Some("closed");
                work.pull_requests_merged = i64::from(is_closed && event.is_merged);
                &event.repository
            }
        };
        (repository, work)
    }
}
