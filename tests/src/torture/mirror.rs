//! The broker of the second relay: what it has taken stands in the record of the process that handed it over. It is slow at
//! times, and fails in the middle of a batch.

use super::Plant;
use super::actor::Scene;
use super::event::{Plan, name_and_plan};
use crate::history::Fate;
use futures_util::future::BoxFuture;
use outbox::broker::{Broker, BrokerError, Capabilities, Outgoing, Published};
use std::sync::Arc;
use std::time::Duration;

/// Of so many batches, one fails.
const FAILING: u32 = 50;

/// How long a slow batch takes, at most.
const PAUSE_MAX: Duration = Duration::from_millis(60);

/// Of so many events, one meets what was planted.
const PLANTED: i64 = 10;

/// Records what is published. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Mirror {
    scene: Arc<Scene>,
}

impl Mirror {
    /// The name of its relay.
    pub(super) const RELAY: &str = "mirror";

    /// The stage of its relay.
    pub(super) const STAGE: &str = "relay/mirror";

    pub(super) fn new(scene: Arc<Scene>) -> Self {
        Self { scene }
    }

    fn take(&self, outgoing: &Outgoing<'_>) {
        let (event, plan) = name_and_plan(&outgoing.envelope.payload).expect("no stranger writes to the log");
        if plan == Plan::KillRelay && !self.scene.is_mended() {
            self.scene.die(Self::STAGE, event);
        }
        let is_left_out = self.scene.plants(Plant::Gap) && event.n % PLANTED == 0;
        if !is_left_out {
            self.scene.record.happened(Fate::Published.of(Self::STAGE, &event));
        }
    }
}

impl Broker for Mirror {
    fn capabilities(&self) -> Capabilities {
        Capabilities::least("mirror")
    }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        Box::pin(async move {
            let fails = !self.scene.is_mended() && rand::random_ratio(1, FAILING);
            if rand::random_ratio(1, 4) {
                tokio::time::sleep(rand::random_range(Duration::ZERO..PAUSE_MAX)).await;
            }
            let taken = if fails { batch.len() / 2 } else { batch.len() };
            batch[..taken].iter().for_each(|outgoing| self.take(outgoing));
            if fails {
                let source = "it was to fail here".into();
                return Err(BrokerError::Unavailable { broker: "mirror", action: "publish", source });
            }
            Ok(batch.iter().map(|_| Published::Confirmed { duplicate: false }).collect())
        })
    }
}
