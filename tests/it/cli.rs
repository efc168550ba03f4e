//! The command line: what it prints, how it ends, and that it does what it says.

mod alerts;
mod debezium;
mod doctor;
mod json;
mod kafka;
mod migrating;
mod rabbitmq;
mod redis;
mod relay;

use outbox::{
    EventId, EventState, Outbox, RelayConfig, Settings, Store, draft,
    postgres::{PostgresConfig, PostgresStore},
    sqlite::SqliteStore,
};
use outbox_tests::{
    memory_broker::MemoryBroker,
    programs,
    servers::{Nats, Postgres},
};
use relay::Relay;
use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Command, ExitStatus, Output, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A database of SQLite that the commands of a test work on.
struct Shop {
    folder: TempDir,
}

impl Shop {
    /// A place without a database.
    fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn migrated() -> Self {
        let shop = Self::empty();
        assert!(shop.run(&["migrate"]).status.success());
        shop
    }

    /// A database with that many dead letters.
    async fn with_dead_letters(count: u32) -> Self {
        let shop = Self::migrated();
        let store = SqliteStore::open(&shop.url()).await.unwrap();
        sqlx::query(include_str!("cli/insert_dead_letters.sql"))
            .bind(count)
            .execute(store.pool())
            .await
            .unwrap();
        store.pool().close().await;
        shop
    }

    /// Enqueues an order; gives the outbox and the id of the event.
    async fn order(&self) -> (Outbox<SqliteStore>, EventId) {
        let outbox = Outbox::builder(SqliteStore::open(&self.url()).await.unwrap()).build();
        let mut tx = outbox.begin().await.unwrap();
        let id = outbox.enqueue(&mut tx, &Ordered { order: 8 }).await.unwrap();
        tx.commit().await.unwrap();
        (outbox, id)
    }

    fn url(&self) -> String {
        format!("sqlite://{}/shop.db", self.folder.path().display())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = programs::outbox();
        command.args(args).env("OUTBOX_DATABASE_URL", self.url());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    stdout(output)
}

#[track_caller]
fn failed(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}", stdout(output));
    assert_eq!(stdout(output), "");
    stderr(output)
}

/// Reads one line and goes away, as `head -1` does; gives the line and how the program ended.
fn read_one_line(mut command: Command) -> (String, ExitStatus, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ended = child.wait_with_output().unwrap();
    (line, ended.status, String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn migrate_makes_the_tables_and_status_says_that_nobody_worked_yet() {
    let shop = Shop::empty();

    let migrated = succeeded(&shop.run(&["migrate"]));
    assert!(migrated.contains("shop.db"), "{migrated}");
    assert_eq!(succeeded(&shop.run(&["migrate"])), migrated);
    assert!(succeeded(&shop.run(&["status"])).starts_with("no relay or consumer"));
}

#[test]
fn a_mistyped_file_is_an_error_and_makes_no_database() {
    let shop = Shop::empty();

    let error = failed(&shop.run(&["status"]), 1);
    assert!(error.contains("does not exist"), "{error}");
    assert!(!shop.folder.path().join("shop.db").exists());
}

#[test]
fn tables_of_another_prefix_are_found_by_their_prefix_only() {
    let shop = Shop::empty();

    succeeded(&shop.run(&["migrate", "--prefix", "mine_"]));
    succeeded(&shop.run(&["status", "--prefix", "mine_"]));
    let error = failed(&shop.run(&["status", "--schema", "mine"]), 2);
    assert!(error.contains("--prefix"), "{error}");
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_to_write() {
    let shop = Shop::migrated();

    for (args, advice) in [
        (&["dead-letters", "replay"][..], "--all"),
        (&["dead-letters", "discard", "--why", "x"], "--all"),
        (&["dead-letters", "discard", "--all"], "--why"),
        (&["dead-letters", "replay", "--all", "--per-second", "0"], "--per-second"),
        (&["dead-letters", "list", "--stage", "billing.charge"], "consumer/NAME"),
        (&["dead-letters", "list", "--since", "yesterday"], "2h"),
        (&["relay", "--broker", "carrier-pigeon://roof"], "scheme"),
        (&["status", "--database-url", "oracle://db"], "scheme"),
        (&["status", "--patience", "30"], "30s"),
        (&["relay", "--broker", "nats://x", "--header", "tenant"], "NAME=VALUE"),
        (&["relay", "--broker", "nats://x", "--start", "newest"], "earliest"),
    ] {
        let error = failed(&shop.run(args), 2);
        assert!(error.contains(advice), "{args:?}: {error}");
    }
    let nameless = programs::outbox().arg("status").output().unwrap();
    assert!(failed(&nameless, 2).contains("OUTBOX_DATABASE_URL"));
}

#[tokio::test]
async fn a_list_of_100_000_whose_reader_goes_away_ends_without_an_error() {
    let shop = Shop::with_dead_letters(100_000).await;

    let (line, status, errors) = read_one_line(shop.command(&["dead-letters", "list"]));
    assert!(line.starts_with("ID "), "{line}");
    assert_eq!((status.code(), errors.as_str()), (Some(0), ""));

    let all = succeeded(&shop.run(&["dead-letters", "list"]));
    assert_eq!(all.lines().count(), 100_001);
}

#[tokio::test]
async fn no_command_fails_when_nobody_reads_its_answer() {
    let shop = Shop::with_dead_letters(3).await;

    for args in [
        &["migrate"][..],
        &["status"],
        &["status", "--json"],
        &["repair"],
        &["dead-letters", "list"],
        &["dead-letters", "show", "1"],
        &["dead-letters", "replay", "--id", "1"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = shop.command(args).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{args:?}");
    }
    // The replay was asked for all the same.
    assert!(succeeded(&shop.run(&["dead-letters", "replay", "--id", "1"])).contains("1 already under way"));
}

#[tokio::test]
async fn what_producers_wrote_is_shown_inert_and_payloads_only_by_show() {
    let shop = Shop::with_dead_letters(1).await;

    let list = succeeded(&shop.run(&["dead-letters", "list"]));
    let show = succeeded(&shop.run(&["dead-letters", "show", "1"]));
    let status = succeeded(&shop.run(&["status"]));
    for text in [&list, &show, &status] {
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
    assert!(list.contains(r"order\u{1b}[31m-1"), "{list}");
    assert!(!list.contains("payload-of-1") && !status.contains("payload-of-1"));
    for part in ["payload-of-1", r"tenant: a\u{1b}[0mcme", r"declined\u{9b}2J", "no such card"] {
        assert!(show.contains(part), "`{part}` is missing in {show}");
    }
}

#[tokio::test]
async fn conditions_choose_the_dead_letters() {
    let shop = Shop::with_dead_letters(20).await;

    for (conditions, lines) in [
        (&["--id", "3", "--id", "4"][..], 2),
        (&["--event", "01900000-0000-7000-8000-000000000005"], 1),
        (&["--stage", "consumer/billing.charge"], 10),
        (&["--consumer", "shipping.plan"], 10),
        (&["--stage", "consumer/billing.charge", "--id", "3"], 0),
        (&["--type", "orders.placed"], 20),
        (&["--type", "orders.paid"], 0),
        (&["--version", "1"], 20),
        (&["--version", "2"], 0),
        (&["--key", "order-7"], 1),
        (&["--reason", "handler-error"], 20),
        (&["--since", "1970-01-01T00:00:10Z", "--until", "1970-01-01T00:00:15Z"], 5),
        (&["--since", "1h"], 0),
        (&["--max", "7"], 7),
    ] {
        let list = succeeded(&shop.run(&[&["dead-letters", "list"], conditions].concat()));
        assert_eq!(list.lines().count().saturating_sub(1), lines, "{conditions:?}\n{list}");
        if lines > 0 && !conditions.contains(&"--max") {
            let dry = succeeded(&shop.run(&[&["dead-letters", "replay", "--dry-run"], conditions].concat()));
            assert!(dry.contains(&format!("would replay {lines} dead letter")), "{conditions:?}\n{dry}");
        }
    }
}

#[tokio::test]
async fn a_request_says_how_many_it_asked_for_and_how_many_were_under_way() {
    let shop = Shop::with_dead_letters(5).await;
    let request = |args: &[&str]| shop.run(&[&["dead-letters"], args].concat());

    let dry = succeeded(&request(&["replay", "--all", "--dry-run"]));
    assert!(dry.contains("would replay 5 dead letters"), "{dry}");
    let first = succeeded(&request(&["replay", "--id", "2", "--id", "3"]));
    assert!(first.contains("asked to replay 2 dead letters, 0 already under way"), "{first}");
    let list = succeeded(&request(&["list"]));
    assert_eq!(list.lines().filter(|line| line.ends_with("replaying")).count(), 2, "{list}");
    let rest = succeeded(&request(&["replay", "--all"]));
    assert!(rest.contains("asked to replay 3 dead letters, 2 already under way"), "{rest}");
    let again = succeeded(&request(&["discard", "--all", "--why", "x"]));
    assert!(again.contains("asked to discard 0 dead letters, 5 already under way"), "{again}");
    let back = succeeded(&request(&["cancel", "--id", "2", "--why", "too early", "--by", "ann"]));
    assert!(back.contains("took back 1 request"), "{back}");
    let audit = succeeded(&shop.run(&["audit"]));
    let entry = audit.lines().nth(1).unwrap();
    assert!(entry.contains("cancel") && entry.contains("ann  too early"), "{audit}");
    let nothing = failed(&request(&["replay", "--key", "no such key"]), 1);
    assert!(nothing.contains("no dead letter matches"), "{nothing}");
    let missing = failed(&request(&["show", "77"]), 1);
    assert!(missing.contains("77"), "{missing}");
}

// Several threads: the relay works on while this test waits for a command.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_was_typed_reaches_the_relay_that_gave_the_event_up_on_sqlite() {
    let shop = Shop::migrated();
    let store = SqliteStore::open(&shop.url()).await.unwrap();

    replay_reaches_the_relay(store, |args| shop.run(args)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_was_typed_reaches_the_relay_that_gave_the_event_up_on_postgres() {
    let Some(server) = Postgres::shared().await else { return };
    let url = server.fresh_database().await;
    let run = |args: &[&str]| {
        let mut command = programs::outbox();
        command.args(args).args(["--schema", "events", "--prefix", "o_"]).env("OUTBOX_DATABASE_URL", &url);
        command.output().unwrap()
    };

    let early = failed(&run(&["status"]), 1);
    assert!(early.contains("run `outbox migrate`"), "{early}");
    succeeded(&run(&["migrate"]));
    let repaired = succeeded(&run(&["repair"]));
    assert!(repaired.contains("the next event gets the number 1000000000000000000"), "{repaired}");
    let config =
        PostgresConfig { schema: "events".to_owned(), prefix: "o_".to_owned(), ..PostgresConfig::default() };
    replay_reaches_the_relay(PostgresStore::connect_with(&url, config).await.unwrap(), run).await;
}

async fn replay_reaches_the_relay<S: Store>(store: S, run: impl Fn(&[&str]) -> Output) {
    let outbox = Outbox::builder(store).build();
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("7");
    let quick = |settings: &mut Settings| settings.poll = Duration::from_millis(20);
    let runner =
        outbox.runner().relay(RelayConfig::default(), broker.clone()).settings(quick).start().await.unwrap();
    let mut tx = outbox.begin().await.unwrap();
    let id = outbox.enqueue(&mut tx, &Ordered { order: 7 }).await.unwrap();
    tx.commit().await.unwrap();
    until(async || !outbox.dead_letters(&Default::default(), 1).await.unwrap().is_empty()).await;

    let listed = succeeded(&run(&["dead-letters", "list", "--stage", "relay/default"]));
    assert!(listed.contains("cli.ordered") && listed.contains("key waits"), "{listed}");
    let number = listed.lines().nth(1).unwrap().split(' ').next().unwrap();
    let shown = succeeded(&run(&["dead-letters", "show", number]));
    assert!(shown.contains(&id.to_string()) && shown.contains("the test refuses it"), "{shown}");
    broker.accept_key("7");
    succeeded(&run(&["dead-letters", "replay", "--key", "7"]));

    until(async || outbox.dead_letters(&Default::default(), 1).await.unwrap().is_empty()).await;
    assert_eq!(broker.confirmed().iter().map(|event| event.id).collect::<Vec<_>>(), [id]);
    let status = succeeded(&run(&["status"]));
    assert!(
        status.lines().any(|line| line.starts_with("relay/default") && line.ends_with("yes")),
        "{status}"
    );
    runner.stop().await.unwrap();
}

// Several threads: the relays work on while this test waits for a command.
#[tokio::test(flavor = "multi_thread")]
async fn named_relays_with_filters_and_starts_are_typed_and_told_apart_by_status() {
    let Some(nats) = Nats::private().await else { return };
    let shop = Shop::migrated();
    let outbox = Outbox::builder(SqliteStore::open(&shop.url()).await.unwrap()).build();
    let enqueue = async |order: u32, tenant: &str| {
        let mut tx = outbox.begin().await.unwrap();
        outbox.enqueue(&mut tx, outbox::draft(&Ordered { order }).header("tenant", tenant)).await.unwrap();
        tx.commit().await.unwrap();
    };
    enqueue(1, "acme").await;
    let start = |args: &[&str]| {
        let url = nats.url();
        Relay::start(shop.command(&[&["relay", "--broker", &url], args].concat()))
    };
    let relays = [
        start(&["--name", "acme", "--type", "cli.ordered", "--topic", "cli", "--header", "tenant=acme"]),
        start(&["--name", "fresh", "--start", "latest", "--header", "tenant=nobody"]),
    ];
    let stages = || -> serde_json::Value {
        serde_json::from_str(&succeeded(&shop.run(&["status", "--json"]))).unwrap()
    };
    until(async || stages()["stages"].as_array().unwrap().len() == 2).await;
    enqueue(2, "other").await;

    until(async || stages()["stages"].as_array().unwrap().iter().all(|stage| stage["lag"] == 0)).await;

    let status = stages();
    for (stage, name) in status["stages"].as_array().unwrap().iter().zip(["relay/acme", "relay/fresh"]) {
        let expected = serde_json::json!({"stage": name, "lag": 0, "held": 0, "waitingKeys": 0, "parkedKeys": 0,
                                          "deadLetters": 0, "led": true});
        assert_eq!(*stage, expected);
    }
    for relay in relays {
        relay.stopped().await;
    }
    let beyond = ["relay", "--broker", &nats.url(), "--name", "beyond", "--start", "2000000000000000000"];
    assert!(failed(&shop.run(&beyond), 1).contains("nothing can start at seq 2000000000000000000"));
}

// Several threads: the relay works on while this test waits for a command.
#[tokio::test(flavor = "multi_thread")]
async fn a_relay_publishes_until_sigterm_and_then_gives_its_lease_back() {
    let Some(nats) = Nats::shared().await else { return };
    let shop = Shop::migrated();
    let relay = Relay::start(shop.command(&["relay", "--broker", &nats.url()]));

    let (outbox, id) = shop.order().await;
    until(async || outbox.state(id).await.unwrap() == EventState::Settled).await;
    relay.stopped().await;

    let status = succeeded(&shop.run(&["status"]));
    assert!(
        status.lines().any(|line| line.starts_with("relay/default  0") && line.ends_with("no")),
        "{status}"
    );
}

#[test]
fn an_unreachable_broker_is_one_clear_error_after_the_patience_and_names_no_secret() {
    let shop = Shop::migrated();
    let begun = Instant::now();

    let args = ["relay", "--broker", "nats://hilda:s3cret@127.0.0.1:1", "--patience", "1s"];
    let error = failed(&shop.run(&args), 1);
    assert!((1..10).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    assert!(error.starts_with("error: the broker `nats://127.0.0.1:1` cannot be used"), "{error}");
    assert_eq!(error.matches("error: the").count(), 1, "{error}");
    assert!(!error.contains("s3cret") && !error.contains("hilda"), "{error}");
}

#[test]
fn an_unreachable_database_is_one_clear_error_after_the_patience_and_names_no_secret() {
    // One server refuses, the other takes the connection and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    for (port, said) in [(1, "refused"), (silent.local_addr().unwrap().port(), "answer")] {
        let url = format!("postgres://hilda:s3cret@127.0.0.1:{port}/shop?sslmode=disable&password=s3cret");
        let begun = Instant::now();
        let args = ["relay", "--broker", "nats://127.0.0.1:1", "--patience", "1s", "--database-url", &url];

        let error = failed(&programs::outbox().args(args).output().unwrap(), 1);

        assert!((1..10).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
        let shown = format!("error: the database `postgres://127.0.0.1:{port}/shop` could not be opened");
        assert!(error.starts_with(&shown) && error.contains(said), "{error}");
        assert_eq!(error.matches("error: the").count(), 1, "{error}");
        assert!(!error.contains("s3cret") && !error.contains("hilda"), "{error}");
    }
}

#[tokio::test]
async fn scheduled_events_are_listed_and_cancelled_until_they_are_due() {
    let shop = Shop::migrated();
    let outbox = Outbox::builder(SqliteStore::open(&shop.url()).await.unwrap()).build();
    let now = std::time::SystemTime::now();
    let mut tx = outbox.begin().await.unwrap();
    let mut ids = Vec::new();
    for (order, secs) in [(1, 7_200), (2, 3_600), (3, 0)] {
        let event = Ordered { order };
        let event = draft(&event).at(now + Duration::from_secs(secs));
        ids.push(outbox.enqueue(&mut tx, event).await.unwrap().to_string());
    }
    tx.commit().await.unwrap();

    let listed = succeeded(&shop.run(&["scheduled", "list"]));
    let order: Vec<&str> = listed.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(order, [&ids[2], &ids[1], &ids[0]], "{listed}");
    let of_key = succeeded(&shop.run(&["scheduled", "list", "--key", "1", "--json"]));
    let answer: serde_json::Value = serde_json::from_str(&of_key).unwrap();
    let row = &answer["scheduled"][0];
    assert_eq!((&row["event"], &row["type"]), (&ids[0].clone().into(), &"cli.ordered".into()));
    let (first, status, errors) = read_one_line(shop.command(&["scheduled", "list", "--json"]));
    assert!(first.contains(&ids[2]) && errors.is_empty(), "{first} {errors}");
    assert!(status.success());

    let cancelled = succeeded(&shop.run(&["scheduled", "cancel", &ids[1], "--json"]));
    assert_eq!(
        cancelled.trim_end(),
        format!(r#"{{"cancellations":[{{"event":"{}","result":"cancelled"}}]}}"#, ids[1])
    );
    let late = shop.run(&["scheduled", "cancel", &ids[0], &ids[1], &ids[2]]);
    assert_eq!(late.status.code(), Some(1));
    let answers = stdout(&late);
    let answers: Vec<&str> = answers.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert_eq!(answers[0], "cancelled");
    assert!(answers[1].starts_with("no event") && answers[2].starts_with("too late"), "{answers:?}");
    assert_eq!(
        succeeded(&shop.run(&["scheduled", "list", "--until", "2999-01-01T00:00:00Z"])).lines().count(),
        2
    );
    failed(&shop.run(&["scheduled", "cancel", "no-id"]), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_is_gone_is_forgotten_by_its_name() {
    let shop = Shop::migrated();
    let outbox = Outbox::builder(SqliteStore::open(&shop.url()).await.unwrap()).build();
    let relay = outbox.runner().relay(RelayConfig::named("gone"), Arc::new(MemoryBroker::default()));
    let runner = relay.start().await.unwrap();
    let led =
        async || stdout(&shop.run(&["relays", "forget", "gone", "--json"])).contains(r#""result":"led""#);
    until(led).await;
    runner.stop().await.unwrap();

    let unknown = shop.run(&["consumers", "forget", "gone"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stdout(&unknown).contains("nothing is known of `consumer/gone`"), "{}", stdout(&unknown));
    let forgotten = succeeded(&shop.run(&["relays", "forget", "gone"]));
    assert!(forgotten.contains("`relay/gone` is forgotten"), "{forgotten}");
    assert!(!succeeded(&shop.run(&["status"])).contains("relay/gone"));
}

/// Waits until it holds.
async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds().await {
        assert!(Instant::now() < deadline, "it did not come true");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// An order was placed.
#[derive(outbox::Event, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[event(type = "cli.ordered", version = 1, topic = "cli")]
struct Ordered {
    #[event(key)]
    order: u32,
}
