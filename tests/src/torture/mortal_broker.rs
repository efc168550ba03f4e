//! A relay's way to its broker, on which a payload may end the process that hands it over, and confirmations are recorded.

use super::RELAY;
use super::actor::Scene;
use super::event::{Plan, name_and_plan};
use super::record::Step;
use crate::pass_on::pass_on;
use futures_util::future::BoxFuture;
use outbox::broker::{Broker, BrokerError, Outgoing, Published};
use std::sync::Arc;

/// Passes everything on to another broker, unless it dies of it.
pub(super) struct MortalBroker {
    pub(super) inner: Arc<dyn Broker>,
    pub(super) scene: Arc<Scene>,
}

impl Broker for MortalBroker {
    pass_on! { subscribe }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        let events = batch.iter().filter_map(|outgoing| name_and_plan(&outgoing.envelope.payload));
        let deadly = events.filter(|(_, plan)| *plan == Plan::KillRelay).map(|(event, _)| event).next();
        if let Some(event) = deadly.filter(|_| !self.scene.is_mended()) {
            self.scene.die(&format!("relay/{RELAY}"), event);
        }
        Box::pin(async move {
            let answers = self.inner.publish(batch).await?;
            for (outgoing, answer) in batch.iter().zip(&answers) {
                if let (Published::Confirmed { .. }, Some((event, _))) =
                    (answer, name_and_plan(&outgoing.envelope.payload))
                {
                    self.scene.record.write(Step::Confirmed(event));
                }
            }
            Ok(answers)
        })
    }
}
