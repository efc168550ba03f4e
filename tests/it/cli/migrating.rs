//! `outbox migrate` run again: only a retention that is typed changes the one that the database has.

use super::succeeded;
use outbox::postgres::PostgresStore;
use outbox_tests::{programs, servers::Postgres};

#[tokio::test]
async fn only_a_typed_retention_changes_that_of_the_database() {
    let Some(server) = Postgres::shared().await else { return };
    let url = server.fresh_database().await;
    let store = PostgresStore::connect(&url).await.unwrap();
    let leaf_secs = "SELECT slot_secs FROM outbox_version";
    let default = "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
                    WHERE adrelid = 'outbox_log'::regclass AND attname = 'slot'";

    // A leaf takes rows for a sixth of the retention.
    for (typed, secs) in [
        (&[][..], 28 * 3_600),
        (&["--retention", "60s"], 10),
        (&[], 10),
        (&["--retention", "7d"], 28 * 3_600),
        (&["--retention", "30d"], 120 * 3_600),
        (&[], 120 * 3_600),
    ] {
        let mut command = programs::outbox();
        succeeded(&command.arg("migrate").args(typed).env("OUTBOX_DATABASE_URL", &url).output().unwrap());

        let kept: i64 = sqlx::query_scalar(leaf_secs).fetch_one(store.pool()).await.unwrap();
        let taken: String = sqlx::query_scalar(default).fetch_one(store.pool()).await.unwrap();
        assert_eq!(kept, secs, "{typed:?}");
        assert!(taken.contains(&format!("/ ({secs})::")), "{typed:?}: {taken}");
    }
}
