//! `outbox relay --on-dead-letters` and `--dead-letter-webhook`: a program is started once for each rise, and until it ends
//! with 0, and the same is posted.

use super::{Relay, Shop, until};
use outbox::{EventState, Limits, Outbox, RelayConfig, Settings, sqlite::SqliteStore};
use outbox_tests::{memory_broker::MemoryBroker, receiver::Receiver, servers::Nats};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

/// More than a server of NATS takes as it comes.
const TOO_LARGE: usize = 1_100_000;

/// A program that writes down what it is told, and then waits until the test says with what it is to end.
struct Program {
    path: PathBuf,
}

impl Program {
    fn write(folder: &Path) -> Self {
        let path = folder.join("tell");
        let script = "#!/bin/sh\ncat >> \"$0.told\"\nread -r code < \"$0.code\"\nexit \"$code\"\n";
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Command::new("mkfifo").arg(path.with_extension("code")).status().unwrap().success());
        Self { path }
    }

    /// What it was told, one line each time.
    fn told(&self) -> Vec<Value> {
        let told = fs::read_to_string(self.path.with_extension("told")).unwrap_or_default();
        told.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Ends the start that waits.
    fn end_with(&self, code: u8) {
        fs::write(self.path.with_extension("code"), format!("{code}\n")).unwrap();
    }
}

/// What is told of the first dead letter of a stage, which has that number.
fn growth((stage, number): (&str, u32)) -> Value {
    json!({
        "id": format!("{stage}/{number}"),
        "stage": stage,
        "new": 1,
        "groups": [{"stage": stage, "type": "cli.noted", "version": 1, "reason": "refused", "count": 1,
                    "requested": 0, "replaying": 0, "parking": 1}],
    })
}

// Several threads: a relay works on while this test waits for the program.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_is_started_once_for_each_rise_and_one_that_fails_again_and_holds_nothing_up() {
    let Some(nats) = Nats::shared().await else { return };
    let shop = Shop::migrated();
    let program = Program::write(shop.folder.path());
    let receiver = Receiver::start([]).await;
    let mut limits = Limits::default();
    limits.payload_bytes_max = 2 * TOO_LARGE;
    let outbox = Outbox::builder(SqliteStore::open(&shop.url()).await.unwrap()).limits(limits).build();
    let enqueue = async |key: &str, bytes: usize| {
        let mut tx = outbox.begin().await.unwrap();
        let noted = Noted { key: key.to_owned(), note: "x".repeat(bytes) };
        let id = outbox.enqueue(&mut tx, &noted).await.unwrap();
        tx.commit().await.unwrap();
        id
    };
    let mut command = shop.command(&["relay", "--broker", &nats.url(), "--on-dead-letters"]);
    command.arg(&program.path).args(["--dead-letter-webhook", &receiver.url()]);
    let relay = Relay::start(command);

    enqueue("a", TOO_LARGE).await;
    until(async || program.told().len() == 1).await;

    // While it runs, the relay publishes, sets aside more of the same rise, and another relay has a rise of its own.
    enqueue("b", TOO_LARGE).await;
    let good = enqueue("good", 1).await;
    until(async || outbox.state(good).await.unwrap() == EventState::Settled).await;
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("a");
    let quick = |settings: &mut Settings| settings.poll = Duration::from_millis(20);
    let other = outbox.runner().relay(RelayConfig::named("other"), broker).settings(quick);
    let other = other.start().await.unwrap();
    until(async || outbox.dead_letters(&Default::default(), 9).await.unwrap().len() == 3).await;
    assert_eq!(program.told().len(), 1);

    program.end_with(1);
    until(async || program.told().len() == 2).await;
    program.end_with(0);
    // The next look finds one more of the first rise and the first of the other: it tells the other alone.
    until(async || program.told().len() == 3).await;
    program.end_with(0);

    let expected = [("relay/default", 1), ("relay/default", 1), ("relay/other", 3)].map(growth);
    assert_eq!(program.told(), expected);
    until(async || receiver.posts().len() == 2).await;
    let posts = receiver.posts();
    let ids: Vec<_> = posts.iter().map(|post| post.header("idempotency-key").unwrap()).collect();
    assert_eq!(ids, ["relay/default/1", "relay/other/3"]);
    other.stop().await.unwrap();
    relay.stopped().await;
}

/// Something was noted.
#[derive(outbox::Event, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[event(type = "cli.noted", version = 1, topic = "cli-alerts")]
struct Noted {
    #[event(key)]
    key: String,
    note: String,
}
