//! The local broker on a store: the log is what delivers, and events come into it by a commit.

use super::Rig;
use crate::{
    broker::{
        AckToken, Broker, Capabilities, Subscription, SubscriptionConfig,
        local::{CAPABILITIES, LocalSubscription},
    },
    cursor::Start,
    envelope::NewEvent,
    held::{Share, Stage},
    lease::{Fence, LeaseName, Owner},
    store::Store,
    wake::Wake,
};
use futures_util::future::BoxFuture;
use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

const LEASE_TTL: Duration = Duration::from_secs(60);

/// The local broker on a migrated store of the caller's.
#[derive(Debug)]
pub struct LocalRig<S> {
    store: S,
    owner: Owner,
    topics: AtomicU32,
}

impl<S: Store> LocalRig<S> {
    /// A rig on this store, which nothing else uses.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self { store, owner: Owner::new(), topics: AtomicU32::new(0) }
    }

    /// The right to write for a consumer. One owner has it all the time, so that the next subscription of a consumer
    /// need not wait for the lease of the one before.
    async fn fence(&self, consumer: &str, topic: &str) -> Fence {
        let (stage, share) = (Stage::consumer(&format!("{consumer}.{topic}")), Share::default());
        let lease = LeaseName::of(&stage, &share);
        let acquired =
            self.store.acquire(&lease, self.owner, LEASE_TTL).await.expect("the store can be reached");
        let epoch = acquired.expect("nothing else uses the store");
        Fence { stage, share, owner: self.owner, epoch }
    }
}

impl<S: Store> Rig for LocalRig<S> {
    fn name(&self) -> &str {
        "local"
    }

    fn broker(&self) -> Option<&dyn Broker> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn fresh_topic(&self) -> String {
        format!("topic-{}", self.topics.fetch_add(1, Ordering::Relaxed))
    }

    fn put<'a>(&'a self, events: &'a [NewEvent]) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut tx = self.store.begin().await.expect("the store can be reached");
            self.store.insert(S::connection(&mut tx), events).await.expect("the events can be written");
            self.store.commit(tx).await.expect("the events can be committed");
        })
    }

    fn subscribe<'a>(&'a self, config: &'a SubscriptionConfig) -> BoxFuture<'a, Box<dyn Subscription>> {
        Box::pin(async move {
            let fence = self.fence(&config.consumer, &config.topic).await;
            let wake = Wake::new().subscribe();
            let topics = vec![config.topic.clone()];
            let opened = LocalSubscription::open(self.store.clone(), fence, topics, Start::Earliest, wake);
            Box::new(opened.await.expect("the log can be read")) as Box<dyn Subscription>
        })
    }

    fn redelivers_while_open(&self) -> bool {
        false
    }

    fn ack<'a>(
        &'a self,
        subscription: &'a mut dyn Subscription,
        tokens: &'a [AckToken],
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if !subscription.acks_in_transaction() {
                return subscription.ack(tokens).await.expect("an ack is taken");
            }
            for token in tokens {
                let mut tx = self.store.begin().await.expect("the store can be reached");
                subscription.ack_in(&mut tx, token).await.expect("the progress can be written");
                self.store.commit(tx).await.expect("the progress can be committed");
                subscription.ack(std::slice::from_ref(token)).await.expect("an ack is taken");
            }
        })
    }
}
