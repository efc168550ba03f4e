//! `outbox doctor`: what people read, what scripts read, and how it ends.

use super::{Ordered, Shop, failed, stderr, stdout, succeeded};
use outbox::{Outbox, sqlite::SqliteStore};
use outbox_tests::servers::Redis;
use redis_client::cmd;
use serde_json::{Value, json};

#[tokio::test]
async fn doctor_ends_with_0_when_all_is_well_and_with_1_when_something_is_not() {
    let well = Shop::migrated();
    assert_eq!(succeeded(&well.run(&["doctor"])), "nothing is wrong\n");
    assert_eq!(succeeded(&well.run(&["doctor", "--json"])), "{\"findings\":[]}\n");

    let ill = Shop::with_dead_letters(4).await;
    let told = ill.run(&["doctor"]);
    assert_eq!((told.status.code(), stderr(&told).as_str()), (Some(1), ""));
    let text = stdout(&told);
    for part in [
        "dead-letters: consumer/billing.charge\n",
        "  what  2 dead letters",
        "  why   ",
        "  fix   `outbox dead-letters list",
    ] {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    let told = ill.run(&["doctor", "--json"]);
    assert_eq!((told.status.code(), stderr(&told).as_str()), (Some(1), ""));
    let answer: Value = serde_json::from_str(stdout(&told).trim_end()).unwrap();
    let first = &answer["findings"][0];
    let names: Vec<_> = first.as_object().unwrap().keys().collect();
    assert_eq!(names, ["about", "code", "fix", "problem", "why"]);
    assert_eq!(
        (&first["code"], &first["about"]),
        (&json!("dead-letters"), &json!("consumer/billing.charge"))
    );
}

#[test]
fn doctor_of_a_database_that_cannot_be_had_fails_as_every_command_does() {
    let shop = Shop::empty();
    assert!(failed(&shop.run(&["doctor"]), 1).contains("does not exist"));
}

#[tokio::test]
async fn doctor_looks_at_the_broker_for_the_topics_of_the_newest_events_or_those_that_are_typed() {
    let Some(redis) = Redis::private_with(&["--requirepass", "s3cret"]).await else { return };
    let shop = Shop::migrated();
    let outbox = Outbox::builder(SqliteStore::open(&shop.url()).await.unwrap()).build();
    let mut tx = outbox.begin().await.unwrap();
    outbox.enqueue(&mut tx, &Ordered { order: 8 }).await.unwrap();
    tx.commit().await.unwrap();
    let url = |password: &str| format!("redis://:{password}@127.0.0.1:{}", redis.port());
    let mut connection = redis_client::Client::open(url("s3cret")).unwrap().get_connection().unwrap();
    cmd("SET").arg(&["cli:outbox", "partitions: 8"]).exec(&mut connection).unwrap();

    let told = shop.run(&["doctor", "--broker", &url("s3cret")]);

    assert_eq!((told.status.code(), stderr(&told).as_str()), (Some(1), ""));
    assert!(stdout(&told).starts_with("partitions-differ: topic/cli\n"), "{}", stdout(&told));
    let other = succeeded(&shop.run(&["doctor", "--broker", &url("s3cret"), "--topic", "other"]));
    assert_eq!(other, "nothing is wrong\n");
    let error = failed(&shop.run(&["doctor", "--broker", &url("guess")]), 1);
    assert!(error.contains("does not accept these credentials") && !error.contains("guess"), "{error}");
    assert!(failed(&shop.run(&["doctor", "--topic", "cli"]), 2).contains("--broker"));
}
