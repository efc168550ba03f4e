//! The local broker on every store.

use super::assert_tells_what_is_new;
use outbox::conformance::broker::{LocalRig, check};
use outbox::{postgres::PostgresStore, sqlite::SqliteStore, store::Store};
use outbox_tests::servers::Postgres;

#[tokio::test]
async fn local_on_sqlite_keeps_every_rule_of_a_subscription() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("outbox.db").display());
    assert_tells_what_is_new(&check(&LocalRig::new(SqliteStore::open(&url).await.unwrap())).await);
}

#[tokio::test]
async fn local_on_postgres_keeps_every_rule_of_a_subscription() {
    let Some(postgres) = Postgres::shared().await else { return };
    let store = PostgresStore::connect(&postgres.fresh_database().await).await.unwrap();
    store.migrate().await.unwrap();
    assert_tells_what_is_new(&check(&LocalRig::new(store)).await);
}
