//! What no producer of ours would write every day: payloads that kill, and messages of strangers at the broker.

use super::arena::Arena;
use super::event::{Plan, Said, Told};
use super::producer::Producer;
use super::store::TortureStore;
use outbox::Event;
use rand::RngExt;
use rand::rngs::StdRng;
use std::sync::Arc;
use std::time::Duration;

/// What a stranger writes.
pub(super) const FOREIGN: &str = r#"{"foreign":true}"#;

/// Enqueues events that end the process which works on them, one at a time.
pub(super) async fn deadly<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    let producer = Producer::new(arena.outbox.clone(), Arc::clone(&arena.scene), 0, 0);
    let mut pause = Duration::from_secs(chance.random_range(3..10));
    while arena.rest(pause).await {
        // The whole system is slow until it is found, and so nothing else would be tried.
        pause = Duration::from_secs(chance.random_range(60..180));
        let plan = if chance.random_ratio(1, 2) { Plan::KillRelay } else { Plan::KillConsumer };
        let key = format!("bad-{}", chance.random_range(0..3));
        arena.tell("deadly payload", &format!("{plan:?} in {key}"));
        // The database may be down.
        let _ = producer.transact(&mut chance, vec![Said::Told(Told::new(&key, 0, plan, 10))]).await;
    }
}

/// Puts messages that are no events among ours.
pub(super) async fn foreign<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    let Some(broker) = &arena.ground.broker else { return };
    while arena.rest(Duration::from_secs(chance.random_range(3..15))).await {
        arena.tell("stranger's message", broker.name());
        // The broker may be down.
        let _ = broker.put_foreign(Told::TOPIC, chance.random_range(0..4), FOREIGN).await;
    }
}
