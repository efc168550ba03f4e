//! The real loops of a process as plain futures, for a simulation that polls them itself. Exempt from semver.
//!
//! The runner spawns the keeping of a stage's lease and its work as tasks. Here they are futures; whoever polls them
//! decides who goes on, who is paused, and, by dropping them, who is killed.

pub use crate::simulated::{seed_chance, set_boot_time};

use crate::{
    broker::Broker,
    consumer::{self, Consumer, ConsumerWorker, HandlerEntry, Source, States},
    cursor::Start,
    enqueue::Outbox,
    held::{Share, Stage},
    leadership::{Grant, Keeper, LeaseConfig},
    lease::Owner,
    relay::{self, RelayConfig, RelayWorker},
    runner::Settings,
    store::Store,
};
use futures_util::future::BoxFuture;
use std::{error::Error, fmt, sync::Arc, time::Duration};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

type Work = BoxFuture<'static, Result<(), Box<dyn Error + Send + Sync>>>;

/// One future of a process. It ends when the process is stopped, or with an error that a person must mend.
pub type Loop = BoxFuture<'static, Result<(), Box<dyn Error + Send + Sync>>>;

/// A process that is to be simulated.
pub struct Process<S: Store> {
    /// Its outbox.
    pub outbox: Outbox<S>,
    /// Who it is.
    pub owner: Owner,
    /// Its times and limits.
    pub settings: Settings,
    stop: CancellationToken,
}

impl<S: Store> fmt::Debug for Process<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl<S: Store> Process<S> {
    /// A process that has not begun.
    #[must_use]
    pub fn new(outbox: Outbox<S>, owner: Owner, settings: Settings) -> Self {
        Self { outbox, owner, settings, stop: CancellationToken::new() }
    }

    /// Lets everything end after what is in flight.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// The loops of a relay.
    pub fn relay(&self, config: RelayConfig, broker: Arc<dyn Broker>) -> [Loop; 2] {
        let (stage, timeout) = (Stage::relay(&config.name), config.publish_timeout);
        let worker = Arc::new(RelayWorker {
            outbox: self.outbox.clone(),
            broker,
            config,
            start: Start::Earliest,
            poll: self.settings.poll,
        });
        self.lead(stage, Share::default(), timeout, move |grant| {
            let worker = Arc::clone(&worker);
            Box::pin(async move { relay::run(&worker, &grant).await.map_err(Into::into) })
        })
    }

    /// The loops of a consumer of the log.
    pub fn consume_locally(&self, handler: &'static HandlerEntry) -> [Loop; 2] {
        self.consume(handler, Share::default(), Source::Log { start: Start::Earliest })
    }

    /// The loops of a consumer of one partition of a topic on a broker.
    pub fn consume_from(
        &self,
        handler: &'static HandlerEntry,
        broker: Arc<dyn Broker>,
        topic: &str,
        partition: &str,
    ) -> [Loop; 2] {
        let share = Share(format!("{topic}.{partition}"));
        let source = Source::Broker { broker, topic: topic.to_owned(), partition: partition.to_owned() };
        self.consume(handler, share, source)
    }

    fn consume(&self, handler: &'static HandlerEntry, share: Share, source: Source) -> [Loop; 2] {
        let stage = Stage::consumer(handler.entry.name);
        let (outbox, settings) = (self.outbox.clone(), self.settings.clone());
        self.lead(stage, share, handler.timeout, move |grant| {
            let worker = ConsumerWorker {
                consumer: Consumer {
                    outbox: outbox.clone(),
                    handler,
                    states: States::default(),
                    inbox_window: settings.retention.inbox,
                    fence: grant.fence.clone(),
                    takeover: grant.takeover,
                    ended: Default::default(),
                },
                source: source.clone(),
                in_flight_max: settings.in_flight_max,
                poll: settings.poll,
                waiting_keys_max: settings.waiting_keys_max,
            };
            Box::pin(async move { consumer::run(&worker, &grant).await.map_err(Into::into) })
        })
    }

    /// The keeping of one lease, and the work that it allows.
    fn lead(
        &self,
        stage: Stage,
        share: Share,
        wait_max: Duration,
        work: impl Fn(Grant) -> Work + Send + 'static,
    ) -> [Loop; 2] {
        let (grants, mut granted) = mpsc::channel::<Grant>(1);
        let (end, ended) = mpsc::channel(1);
        let keeper = Keeper {
            store: self.outbox.store().clone(),
            stage,
            shares: vec![share],
            owner: self.owner,
            config: LeaseConfig {
                takeover: self.settings.takeover,
                stall_max: self.settings.stall_max(wait_max),
            },
            grants,
            ended,
            stop: self.stop.clone(),
        };
        let keeping = async move {
            keeper.keep().await;
            Ok(())
        };
        let working = async move {
            while let Some(grant) = granted.recv().await {
                let (share, lost) = (grant.fence.share.clone(), grant.lost.clone());
                tokio::select! { biased;
                    () = lost.cancelled() => {}
                    result = work(grant) => result?,
                }
                // The keeper is gone only when everything ends.
                let _ = end.send(share).await;
            }
            Ok(())
        };
        [Box::pin(keeping), Box::pin(working)]
    }
}
