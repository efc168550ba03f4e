//! The processes that relay and consume: the real loops, under a name that is never used again.

use super::broker::Exchange;
use super::client::Client;
use super::event::SHARED;
use super::executor::Process;
use super::handler::{LEDGER, MAIL, RETRY};
use super::store::SimStore;
use super::world::World;
use outbox::lease::Owner;
use outbox::{Outbox, RelayConfig, Settings};
use outbox_runtime::simulation;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The stages of every worker.
pub(super) const RELAY: &str = "relay/default";
pub(super) const LOCAL_CONSUMER: &str = "consumer/ledger";
pub(super) const BROKER_CONSUMER: &str = "consumer/mail";

/// A running process.
pub(super) struct Worker {
    pub(super) process: Process,
    loops: simulation::Process<SimStore>,
}

impl Worker {
    pub(super) fn start(world: &Arc<World>, exchange: &Arc<Exchange>) -> Self {
        let process = world.next_process();
        let owner = Owner(Uuid::from_u128(process.0.into()));
        let outbox = Outbox::builder(SimStore::new(Client { world: Arc::clone(world), process })).build();
        let loops = simulation::Process::new(outbox, owner, settings());
        let broker = exchange.of(process, owner, RELAY);
        let relay = RelayConfig {
            page_max: 8,
            publish_timeout: Duration::from_secs(2),
            retry: RETRY,
            ..RelayConfig::default()
        };
        let stages = [
            loops.relay(relay, Arc::clone(&broker)),
            loops.consume_locally(&LEDGER),
            loops.consume_from(&MAIL, broker, SHARED, "0"),
        ];
        for work in stages.into_iter().flatten() {
            let world = Arc::clone(world);
            let schedule = Arc::clone(&world);
            schedule.schedule.spawn(process, async move {
                if let Err(error) = work.await {
                    world.breach(format!("{process:?} stopped for good: {error}"));
                }
            });
        }
        world.tell(|| format!("{process:?} starts"));
        Self { process, loops }
    }

    /// Ends it in good order.
    pub(super) fn stop(&self) {
        self.loops.stop();
    }
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.takeover = Duration::from_secs(4);
    settings.poll = Duration::from_millis(400);
    settings.in_flight_max = 8;
    settings
}
