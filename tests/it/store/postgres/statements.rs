//! Every SQL file on a real server.

use super::World;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

/// What the server cannot prepare: it has several statements, or defines something.
const UNPREPARED: [&str; 11] = [
    "alter_seq_default",
    "alter_sequence",
    "alter_slot_default",
    "begin_clearing",
    "begin_migration",
    "begin_write",
    "create_schema",
    "create_version",
    "limit_lock_wait",
    "lock_log",
    "prove_and_commit",
];

#[tokio::test]
async fn every_statement_can_be_prepared() {
    let Some(world) = World::start().await else { return };
    let mut connection = PgConnection::connect(&world.url).await.unwrap();
    let texts = world.store.statement_texts();
    assert!(texts.len() > 50, "only {} statements were found", texts.len());
    for (name, text) in texts {
        if UNPREPARED.contains(&name) {
            continue;
        }
        let prepare = AssertSqlSafe(format!("PREPARE {name} AS {text}"));
        if let Err(error) = sqlx::raw_sql(prepare).execute(&mut connection).await {
            panic!("{name}.sql: {error}");
        }
    }
}
