//! `outbox doctor`: what people read, what scripts read, and how it ends.

use super::{Ordered, Shop, failed, stderr, stdout, succeeded};
use outbox::{Outbox, sqlite::SqliteStore};
use outbox_tests::{
    programs,
    servers::{Postgres, RabbitMq, Redis},
};
use redis_client::cmd;
use serde_json::{Value, json};
use std::{
    net::TcpListener,
    process::{Child, Output, Stdio},
};

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
    let of_eight = ["doctor", "--broker", &url("s3cret"), "--partitions", "8"];
    assert_eq!(succeeded(&shop.run(&of_eight)), "nothing is wrong\n");
    assert!(failed(&shop.run(&[&of_eight[..4], &["0"]].concat()), 2).contains("--partitions"));
    assert!(failed(&shop.run(&["doctor", "--topic", "cli"]), 2).contains("--broker"));
}

/// The codes of the findings, told as JSON.
#[track_caller]
fn codes(told: &Output) -> Vec<String> {
    assert_eq!(told.status.code(), Some(1), "{}", stderr(told));
    let answer: Value = serde_json::from_str(stdout(told).trim_end()).unwrap();
    let findings = answer["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_broker_that_cannot_be_reached_is_one_finding_beside_those_of_the_database() {
    let shop = Shop::with_dead_letters(1).await;
    // One takes the connection and says nothing, the other is not there.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let of = |scheme: &str, port: u16, args: &[&str]| {
        let url = format!("{scheme}://hilda:s3cret@127.0.0.1:{port}");
        let mut command = shop.command(&[&["doctor", "--broker", &url], args].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let ended = |child: Child| child.wait_with_output().unwrap();
    for (port, fault) in [(silent.local_addr().unwrap().port(), "silent"), (1, "refused")] {
        let schemes = ["amqp", "kafka", "nats", "redis"];
        let all = schemes.map(|scheme| (scheme, of(scheme, port, &[]), of(scheme, port, &["--json"])));
        for (scheme, for_people, for_scripts) in all {
            let told = ended(for_people);

            assert_eq!(told.status.code(), Some(1), "{scheme} {fault}");
            assert!(stderr(&told).lines().count() <= 1, "{scheme} {fault}: {}", stderr(&told));
            let text = stdout(&told);
            let unavailable =
                format!("broker-unavailable: {scheme}://127.0.0.1:{port}\n  what  it could not ");
            for part in
                ["dead-letters: consumer/shipping.plan\n", &unavailable, "  fix   correct the address"]
            {
                assert!(text.contains(part), "{scheme} {fault}: `{part}` is missing in {text}");
            }
            assert!(!text.contains("s3cret") && !text.contains("hilda"), "{text}");
            assert_eq!(
                codes(&ended(for_scripts)),
                ["dead-letters", "broker-unavailable"],
                "{scheme} {fault}"
            );
        }
    }
}

#[tokio::test]
async fn a_broker_that_refuses_is_one_finding_with_the_reason() {
    let Some(redis) = Redis::private_with(&["--requirepass", "right"]).await else { return };
    let Some(rabbitmq) = RabbitMq::shared().await else { return };
    let shop = Shop::with_dead_letters(1).await;
    for (url, reason) in [
        (format!("redis://:s3cret@127.0.0.1:{}", redis.port()), "does not accept these credentials"),
        (
            format!("amqp://guest:s3cret@127.0.0.1:{}/%2f", rabbitmq.port()),
            "does not accept these credentials",
        ),
        ("nats://s3cret@not an address".to_owned(), "address is malformed"),
    ] {
        let told = shop.run(&["doctor", "--broker", &url]);

        assert_eq!(told.status.code(), Some(1), "{}", stderr(&told));
        let text = stdout(&told);
        for part in ["dead-letters: consumer/", "\nbroker-refuses: ", "  what  it refused to ", reason] {
            assert!(text.contains(part), "`{part}` is missing in {text}");
        }
        assert!(!text.contains("s3cret") && !stderr(&told).contains("s3cret"), "{text}");
        let told = shop.run(&["doctor", "--broker", &url, "--json"]);
        assert_eq!(codes(&told), ["dead-letters", "broker-refuses"]);
    }
}

#[tokio::test]
async fn tables_that_are_unfit_do_not_hide_what_is_wrong_with_the_broker() {
    let Some(server) = Postgres::shared().await else { return };
    let mut doctor = programs::outbox();
    doctor.args(["doctor", "--json", "--broker", "redis://127.0.0.1:1"]);

    let told = doctor.env("OUTBOX_DATABASE_URL", server.fresh_database().await).output().unwrap();

    assert_eq!(codes(&told), ["tables-unfit", "topics-unknown", "broker-unavailable"]);
}

#[tokio::test]
async fn a_mistyped_broker_is_wrong_usage_whatever_the_database_has() {
    let shop = Shop::with_dead_letters(1).await;
    assert!(failed(&shop.run(&["doctor", "--broker", "pigeon://roof"]), 2).contains("scheme"));
}
