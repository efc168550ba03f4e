//! PostgreSQL.

use outbox::{
    conformance,
    postgres::{PostgresConfig, PostgresStore},
    store::Store,
};
use outbox_tests::servers::Postgres;
use sqlx::PgPool;
use std::sync::atomic::{AtomicU32, Ordering};

#[tokio::test]
async fn postgres_keeps_the_rules_of_a_store() {
    let Some(postgres) = Postgres::shared().await else { return };
    let pool = PgPool::connect(&postgres.fresh_database().await).await.unwrap();
    let stores = AtomicU32::new(0);
    conformance::store::check(async || {
        // A schema each is made faster than a database each.
        let schema = format!("Schema \"{}\" '\\", stores.fetch_add(1, Ordering::Relaxed));
        let config = PostgresConfig { schema, prefix: "Ab c_".to_owned(), ..PostgresConfig::default() };
        let store = PostgresStore::with_pool(pool.clone(), config).unwrap();
        store.migrate().await.unwrap();
        store
    })
    .await;
}
