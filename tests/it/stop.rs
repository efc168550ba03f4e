//! A runner that is told to stop stops.

use outbox::RelayConfig;
use outbox::sqlite::SqliteStore;
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::world::World;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_runner_that_is_stopped_while_it_still_takes_its_leases_gives_them_back_at_once() {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    let begun = Instant::now();

    // The moment that matters is short, so each turn stops a little later than the one before.
    for turn in 0..40 {
        let relay = (RelayConfig::default(), Arc::new(MemoryBroker::default()));
        let runner = world.outbox.runner().relay(relay.0, relay.1).start().await.unwrap();
        tokio::time::sleep(Duration::from_micros(turn * 250)).await;
        runner.stop().await.unwrap();
    }

    // One wait for the drain's end alone would take 30 seconds.
    assert!(begun.elapsed() < Duration::from_secs(25), "it took {:?}", begun.elapsed());
}
