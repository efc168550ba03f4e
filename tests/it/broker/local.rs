//! The local broker on every store.

use outbox::conformance::broker::{LocalRig, run};
use outbox::store::Store;
use outbox::store::sqlite::SqliteStore;

#[tokio::test]
async fn local_on_sqlite_keeps_every_rule_of_a_subscription() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        SqliteStore::open(&format!("sqlite://{}/outbox.db?mode=rwc", folder.path().display())).await.unwrap();
    store.migrate().await.unwrap();
    run(&LocalRig::new(store)).await;
}
