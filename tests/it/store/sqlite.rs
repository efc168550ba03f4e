//! SQLite.

use outbox::{conformance, sqlite::SqliteStore};
use std::sync::atomic::{AtomicU32, Ordering};

#[tokio::test]
async fn sqlite_keeps_the_rules_of_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let files = AtomicU32::new(0);
    conformance::store::check(async || {
        let file = folder.path().join(format!("{}.db", files.fetch_add(1, Ordering::Relaxed)));
        SqliteStore::open(&format!("sqlite://{}", file.display())).await.unwrap()
    })
    .await;
}
