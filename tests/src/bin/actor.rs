//! One process of a crash test, told by its arguments what to be: it is there to be killed.
//!
//! `actor relay|consume|work|enqueue --db URL [--file PATH | --broker URL] [--die-after BATCHES] [--pause-ms N]
//! [--die-at-ack] [--dedup-ms N] [--count N] [--die-of KEY] [--takeover-ms N]
//! [--mended]`. The store is told from the address; `work` relays and consumes.
#![expect(clippy::unwrap_used, reason = "a fault of a test or a measurement ends it")]

use outbox::Settings;
use outbox::broker::Broker;
use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox_tests::dying_broker::DyingBroker;
use outbox_tests::file_broker::FileBroker;
use outbox_tests::world::{TestStore, World, broker_at, nats_broker, noted, quick, quick_relay};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

struct Arguments(Vec<String>);

impl Arguments {
    fn value(&self, name: &str) -> Option<&str> {
        let at = self.0.iter().position(|argument| argument == name)?;
        self.0.get(at + 1).map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.value(name).map(|text| text.parse().unwrap())
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|argument| argument == name)
    }
}

#[tokio::main]
async fn main() {
    let arguments = Arguments(std::env::args().collect());
    if arguments.value("--db").unwrap().starts_with("sqlite:") {
        act::<SqliteStore>(&arguments).await;
    } else {
        act::<PostgresStore>(&arguments).await;
    }
}

async fn act<S: TestStore>(arguments: &Arguments) {
    let world = World::<S>::at(arguments.value("--db").unwrap()).await;
    if arguments.has("--mended") {
        world.mend();
    }
    match arguments.0[1].as_str() {
        "enqueue" => {
            let count = i64::from(arguments.number("--count").unwrap());
            world.enqueue_each((0..count).map(|n| noted(&format!("key-{}", n % 5), n))).await;
            outbox_tests::kill_this_process()
        }
        "relay" => {
            let runner = world.outbox.runner().relay(quick_relay(), broker(arguments)).settings(quick);
            let relay = runner.settings(|settings| take_over(arguments, settings)).start().await.unwrap();
            relay.run_until(std::future::pending()).await.unwrap();
        }
        role @ ("work" | "consume") => {
            let runner = match role {
                "work" => world.runner().relay(quick_relay(), broker(arguments)),
                _ => world.runner(),
            };
            let runner = match arguments.value("--broker") {
                Some(_) => runner.consume_from(broker(arguments)),
                None => runner.consume_locally(),
            };
            let runner = runner.settings(|settings| take_over(arguments, settings));
            runner.start().await.unwrap().run_until(std::future::pending()).await.unwrap();
        }
        other => panic!("no such role: {other}"),
    }
}

fn take_over(arguments: &Arguments, settings: &mut Settings) {
    if let Some(millis) = arguments.number("--takeover-ms") {
        settings.takeover = Duration::from_millis(u64::from(millis));
    }
}

fn broker(arguments: &Arguments) -> Arc<dyn Broker> {
    if let Some(url) = arguments.value("--broker") {
        let window = arguments.number("--dedup-ms").map(|millis| Duration::from_millis(u64::from(millis)));
        let broker = if window.is_some() { nats_broker(url, window) } else { broker_at(url) };
        return match arguments.number("--die-after") {
            Some(batches) => Arc::new(DyingBroker::after_batches(broker, batches)),
            None if arguments.has("--die-at-ack") => Arc::new(DyingBroker::at_ack(broker)),
            None => broker,
        };
    }
    let mut file = FileBroker::new(Path::new(arguments.value("--file").unwrap()));
    if let Some(batches) = arguments.number("--die-after") {
        file = file.dying_after(batches);
    }
    if let Some(key) = arguments.value("--die-of") {
        file = file.dying_of(key);
    }
    if let Some(millis) = arguments.number("--pause-ms") {
        file = file.pausing(Duration::from_millis(u64::from(millis)));
    }
    Arc::new(file)
}
