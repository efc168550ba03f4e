//! The history of a world: what it enqueued, and what became of it.

use super::{Noted, TestStore, World, name_in};
use crate::history::{EventName, Fate, History, Reader};
use outbox::{DeadLetterFilter, Event};

impl<S: TestStore> World<S> {
    /// What happened in this world: what it enqueued, what the relay `published` if one is given, the effects if a consumer
    /// ran, and where the rest stands.
    pub async fn history(&self, published: Option<Vec<EventName>>, consumed: bool) -> History {
        let store = self.outbox.store();
        let (relay, consumer) = ("relay/default".to_owned(), format!("consumer/{}", S::CONSUMER));
        let mut history = self.recorder.so_far();
        let at = self.recorder.elapsed();
        if let Some(published) = published {
            history.read_by(Reader::relay(&relay));
            for event in published {
                history.record(at, Fate::Published.of(&relay, &event));
            }
        }
        if consumed {
            history.read_by(Reader::consumer(&consumer));
            for (key, n) in store.effects().await {
                let event = EventName::new(Noted::TOPIC, Some(&key), n);
                history.record(at, Fate::Handled.of(&consumer, &event));
            }
        }
        for dead in store.dead_letters(&DeadLetterFilter::default(), 10_000).await.unwrap() {
            let fate = if dead.parks_key { Fate::Parked } else { Fate::Skipped };
            history.record(at, fate.of(dead.stage.as_str(), &name_in(&dead.envelope.payload)));
        }
        history
    }
}
