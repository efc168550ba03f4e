//! Runs relays and consumers in this process: the one place that spawns tasks.

use crate::{
    alert::{self, AlertWorker, Growth, Hook},
    broker::Broker,
    consumer::{self, ConsumerWorker, HandlerEntry, Source, States},
    cursor::{Filter, Start},
    enqueue::Outbox,
    held::{Share, Stage},
    leadership::{Grant, Keeper, LeaseConfig},
    lease::{Fence, Owner},
    relay::{self, RelayConfig, RelayWorker},
    start::{self, RunError},
    store::{News, Retention, Store},
    telemetry,
    upkeep::{self, UpkeepWorker},
    wake::WakeReceiver,
};
use futures_util::future::BoxFuture;
use std::{collections::BTreeSet, error::Error, future::Future, sync::Arc, time::Duration};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

/// The shortest time between two notifications to other processes.
const NOTIFY_INTERVAL: Duration = Duration::from_millis(2);

/// Tells other processes of this process's nudges, at most one in [`NOTIFY_INTERVAL`]; ends with the outbox.
pub(crate) fn spawn_notifier<S: Store>(store: S, news: News, mut wake: WakeReceiver) {
    tokio::spawn(async move {
        while wake.nudged().await.is_some() {
            if let Err(error) = store.notify(news).await {
                tracing::debug!(error = &error as &dyn Error, "a notification was not sent; readers poll");
            }
            tokio::time::sleep(NOTIFY_INTERVAL).await;
        }
    });
}

/// Configures what runs in this process; see [`Outbox::runner`].
#[derive(Debug)]
#[must_use = "call `start`"]
pub struct RunnerBuilder<S: Store> {
    outbox: Outbox<S>,
    relays: Vec<(RelayConfig, Shown<Arc<dyn Broker>>)>,
    consumers: Option<Consumers>,
    only: Option<BTreeSet<String>>,
    elsewhere: BTreeSet<String>,
    states: States,
    start: Option<Start>,
    hooks: Vec<Hook>,
    keeps: bool,
    settings: Settings,
}

/// Where the consumers' deliveries come from.
#[derive(Debug)]
enum Consumers {
    #[cfg(feature = "local")]
    Log,
    Broker(Shown<Arc<dyn Broker>>),
}

/// A broker, which has no `Debug` of its own.
struct Shown<T>(T);

impl std::fmt::Debug for Shown<Arc<dyn Broker>> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.capabilities().name)
    }
}

/// Times and limits of a runner.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// From the death of a leader to the work of the next one, at most; default 10 s.
    pub takeover: Duration,
    /// The longest time between a commit that nobody told of and its publishing, and between two looks at requests;
    /// default 1 s.
    pub poll: Duration,
    /// How long an unreachable database or broker is waited for at start; default 30 s.
    pub patience: Duration,
    /// How long work in flight may take to end at a stop; default 30 s.
    pub drain: Duration,
    /// How long a stage may stand still, beyond what its calls may take each, before its lease is given up; default 60 s.
    pub stall: Duration,
    /// The most deliveries in memory for each partition of a consumer, those that handlers work on included; default 256.
    /// Of the events that waited and are due, as many may be in memory beside them.
    pub in_flight_max: u32,
    /// The most keys that may wait in each partition of a consumer; at the limit it says so and takes nothing new until
    /// one is free. Default 100,000. For a relay see [`RelayConfig::waiting_keys_max`].
    pub waiting_keys_max: u64,
    /// The time between two looks for new dead letters, where something is to be called for them; default 10 s.
    pub alert_every: Duration,
    /// What is kept how long; the inbox window is its `inbox`.
    pub retention: Retention,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            takeover: Duration::from_secs(10),
            poll: Duration::from_secs(1),
            patience: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            stall: Duration::from_secs(60),
            in_flight_max: 256,
            waiting_keys_max: 100_000,
            alert_every: Duration::from_secs(10),
            retention: Retention::default(),
        }
    }
}

impl Settings {
    /// How long the work of a stage may stand still whose single waits take `wait_max` at most.
    pub(crate) fn stall_max(&self, wait_max: Duration) -> Duration {
        wait_max * 2 + self.poll + self.stall
    }
}

impl<S: Store> Outbox<S> {
    /// Starts to configure what runs in this process: relays, consumers, or both.
    pub fn runner(&self) -> RunnerBuilder<S> {
        RunnerBuilder {
            outbox: self.clone(),
            relays: Vec::new(),
            consumers: None,
            only: None,
            elsewhere: BTreeSet::new(),
            states: States::default(),
            start: None,
            hooks: Vec::new(),
            keeps: false,
            settings: Settings::default(),
        }
    }
}

impl<S: Store> RunnerBuilder<S> {
    /// Adds a relay to `broker`. Several processes may run the same one; one of them leads.
    pub fn relay(mut self, config: RelayConfig, broker: Arc<dyn Broker>) -> Self {
        self.relays.push((config, Shown(broker)));
        self
    }

    /// Runs the consumers of this program on the log of this store, without a broker.
    #[cfg(feature = "local")]
    pub fn consume_locally(mut self) -> Self {
        self.consumers = Some(Consumers::Log);
        self
    }

    /// Runs the consumers of this program on a broker; their inbox is in this store.
    pub fn consume_from(mut self, broker: Arc<dyn Broker>) -> Self {
        self.consumers = Some(Consumers::Broker(Shown(broker)));
        self
    }

    /// Keeps the tables up though there is neither a relay nor a consumer here: scheduled events enter the log when they are
    /// due, and what is past its retention goes. Relays, and consumers with a role that may, do so anyway; this is for a log
    /// that others read, as Debezium does.
    pub fn upkeep(mut self) -> Self {
        self.keeps = true;
        self
    }

    /// Runs these consumers only; every other one that is linked must be named in [`RunnerBuilder::elsewhere`].
    pub fn only<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.only = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Names consumers that are linked here and run in another process.
    pub fn elsewhere<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.elsewhere = names.into_iter().map(Into::into).collect();
        self
    }

    /// Gives a value to handlers that take `State<T>`.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Where stages begin that have no progress yet. Default: relays at the earliest event, local consumers at the
    /// latest. A consumer on a broker begins at the oldest event that the broker keeps.
    pub fn start_at(mut self, start: Start) -> Self {
        self.start = Some(start);
        self
    }

    /// Calls `hook` when dead letters have come to any stage of this database: once for each rise of a stage, which ends at
    /// a look that finds no new ones, and not for each event. One that fails or takes over 30 s is called again until it
    /// succeeds, with pauses that grow to a minute. Of several processes with a hook one calls it; when that one changes, a
    /// rise may be told twice, under the same [`Growth::id`]. There may be several hooks, and each is called by itself.
    ///
    /// With the feature `webhook` a `Webhook` posts what is told.
    pub fn on_dead_letters<F>(mut self, hook: impl Fn(Growth) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        self.hooks.push(Hook::new(hook));
        self
    }

    /// Changes times and limits.
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Checks everything and starts. Unreachable servers are waited for, as long as [`Settings::patience`] says.
    ///
    /// # Errors
    /// [`RunError`]; nothing is left running.
    ///
    /// # Cancel safety
    /// If dropped, nothing is left running.
    pub async fn start(self) -> Result<Runner, RunError> {
        let handlers = match &self.consumers {
            Some(_) => start::handlers::<S>(self.only.as_ref(), &self.elsewhere, &self.states)?,
            None => Vec::new(),
        };
        if handlers.is_empty() && self.relays.is_empty() && !self.keeps {
            return Err(RunError::Nothing);
        }
        self.refuse_relays_of_one_name()?;
        let deadline = Instant::now() + self.settings.patience;
        let store = self.outbox.store();
        start::wait_for_store(deadline, || store.check()).await?;
        for broker in self.brokers() {
            start::wait_for_broker(deadline, &**broker, || broker.connect()).await?;
        }
        if let Some(Consumers::Broker(Shown(broker))) = &self.consumers {
            start::warn_of_order(&**broker, &handlers)?;
        }
        let mut stages = Stages::new(self.settings.drain);
        let owner = Owner::new();
        for (config, Shown(broker)) in &self.relays {
            self.spawn_relay(&mut stages, owner, config.clone(), broker, deadline).await?;
        }
        for handler in handlers {
            self.spawn_consumer(&mut stages, owner, handler, deadline).await?;
        }
        if start::wait_for_store(deadline, || store.may_keep()).await? {
            self.spawn_upkeep(&mut stages, owner);
            self.spawn_alerts(&mut stages, owner);
        } else if self.keeps {
            return Err(RunError::MayNotKeep);
        }
        Ok(Runner { stages })
    }

    /// Two of them would lead at once, since both have this process's lease, and share one progress.
    fn refuse_relays_of_one_name(&self) -> Result<(), RunError> {
        let mut names = BTreeSet::new();
        match self.relays.iter().find(|(config, _)| !names.insert(&config.name)) {
            Some((config, _)) => Err(RunError::RelayTwice { name: config.name.clone() }),
            None => Ok(()),
        }
    }

    /// Registers a reader of the log that does not begin at the earliest event before `start` returns: one that begins at
    /// the newest misses none which is enqueued from then on, and a start that is no place fails. If another process leads
    /// the stage, that one has registered it.
    async fn register(
        &self,
        stage: &Stage,
        owner: Owner,
        start: Start,
        deadline: Instant,
    ) -> Result<(), RunError> {
        if start == Start::Earliest {
            return Ok(());
        }
        let store = self.outbox.store();
        let fence = Fence { stage: stage.clone(), share: Share::default(), owner, epoch: 0 };
        let register = async || {
            let lease = store.acquire(&fence.lease(), owner, self.settings.takeover).await?;
            let Some(epoch) = lease else { return Ok(()) };
            let fence = Fence { epoch, ..fence.clone() };
            store.open_log(&fence, Filter::default(), start).await.map(drop)
        };
        start::wait_for_store(deadline, register).await
    }

    fn brokers(&self) -> impl Iterator<Item = &Arc<dyn Broker>> {
        let consumed = match &self.consumers {
            Some(Consumers::Broker(Shown(broker))) => Some(broker),
            _ => None,
        };
        self.relays.iter().map(|(_, Shown(broker))| broker).chain(consumed)
    }

    async fn spawn_relay(
        &self,
        stages: &mut Stages,
        owner: Owner,
        config: RelayConfig,
        broker: &Arc<dyn Broker>,
        deadline: Instant,
    ) -> Result<(), RunError> {
        let stage = Stage::relay(&config.name);
        let start = config.start.or(self.start).unwrap_or(Start::Earliest);
        self.register(&stage, owner, start, deadline).await?;
        let lease = self.lease(config.publish_timeout);
        let worker = Arc::new(RelayWorker {
            outbox: self.outbox.clone(),
            broker: Arc::clone(broker),
            config,
            start,
            poll: self.settings.poll,
        });
        stages.spawn(
            self.outbox.store().clone(),
            stage,
            vec![Share::default()],
            owner,
            lease,
            move |grant| {
                let worker = Arc::clone(&worker);
                Box::pin(async move { relay::run(&worker, &grant).await.map_err(Into::into) })
            },
        );
        Ok(())
    }

    async fn spawn_consumer(
        &self,
        stages: &mut Stages,
        owner: Owner,
        handler: &'static HandlerEntry,
        deadline: Instant,
    ) -> Result<(), RunError> {
        let sources = self.sources(handler, deadline).await?;
        let stage = Stage::consumer(handler.entry.name);
        #[cfg(feature = "local")]
        if let [(_, Source::Log { start })] = &sources[..] {
            self.register(&stage, owner, *start, deadline).await?;
        }
        let shares = sources.iter().map(|(share, _)| share.clone()).collect();
        let (outbox, states, settings) = (self.outbox.clone(), self.states.clone(), self.settings.clone());
        let lease = self.lease(handler.timeout);
        stages.spawn(self.outbox.store().clone(), stage, shares, owner, lease, move |grant| {
            let (_, source) = sources
                .iter()
                .find(|(share, _)| *share == grant.fence.share)
                .expect("a grant is for one of the shares");
            let worker = ConsumerWorker {
                consumer: consumer::Consumer {
                    outbox: outbox.clone(),
                    handler,
                    states: states.clone(),
                    inbox_window: settings.retention.inbox,
                    fence: grant.fence.clone(),
                    takeover: grant.takeover,
                    ended: Default::default(),
                },
                source: source.clone(),
                in_flight_max: settings.in_flight_max,
                waiting_keys_max: settings.waiting_keys_max,
                poll: settings.poll,
            };
            Box::pin(async move { consumer::run(&worker, &grant).await.map_err(Into::into) })
        });
        Ok(())
    }

    /// The shares of a consumer: the whole log, or each partition of each topic.
    async fn sources(
        &self,
        handler: &HandlerEntry,
        deadline: Instant,
    ) -> Result<Vec<(Share, Source)>, RunError> {
        let broker = match &self.consumers {
            Some(Consumers::Broker(Shown(broker))) => broker,
            #[cfg(feature = "local")]
            _ => {
                let start = self.start.unwrap_or(Start::Latest);
                return Ok(vec![(Share::default(), Source::Log { start })]);
            }
            #[cfg(not(feature = "local"))]
            None => return Ok(Vec::new()),
        };
        let mut sources = Vec::new();
        for topic in handler.topics() {
            let partitions = start::wait_for_broker(deadline, &**broker, || broker.partitions(topic)).await?;
            let register = || broker.register(topic, handler.entry.name);
            start::wait_for_broker(deadline, &**broker, register).await?;
            for partition in partitions {
                let share = Share(format!("{topic}.{partition}"));
                let broker = Arc::clone(broker);
                sources.push((share, Source::Broker { broker, topic: topic.to_owned(), partition }));
            }
        }
        Ok(sources)
    }

    fn spawn_upkeep(&self, stages: &mut Stages, owner: Owner) {
        let store = self.outbox.store().clone();
        let lease = self.lease(Duration::from_secs(30));
        let worker = Arc::new(UpkeepWorker {
            outbox: self.outbox.clone(),
            retention: self.settings.retention.clone(),
            poll: self.settings.poll,
        });
        stages.spawn(store, Stage::upkeep(), vec![Share::default()], owner, lease, move |grant| {
            let worker = Arc::clone(&worker);
            Box::pin(async move { upkeep::run(&worker, &grant).await.map_err(Into::into) })
        });
    }

    fn spawn_alerts(&self, stages: &mut Stages, owner: Owner) {
        if self.hooks.is_empty() && !telemetry::HAS_METRICS {
            return;
        }
        let hooks = std::iter::once(Hook::note()).chain(self.hooks.iter().cloned()).collect();
        let store = self.outbox.store().clone();
        let lease = self.lease(alert::CALL_MAX);
        // Who looks seldom need not be replaced at once, and a lease costs the database something all the time.
        let lease = LeaseConfig { takeover: lease.takeover.max(self.settings.alert_every), ..lease };
        let worker = Arc::new(AlertWorker { store: store.clone(), hooks, every: self.settings.alert_every });
        stages.spawn(store, Stage::alerts(), vec![Share::default()], owner, lease, move |grant| {
            let worker = Arc::clone(&worker);
            Box::pin(async move {
                alert::run(&worker, &grant).await;
                Ok(())
            })
        });
    }

    /// The lease of a stage whose single waits take `wait_max` at most.
    fn lease(&self, wait_max: Duration) -> LeaseConfig {
        LeaseConfig { takeover: self.settings.takeover, stall_max: self.settings.stall_max(wait_max) }
    }
}

type WorkError = Box<dyn Error + Send + Sync>;
type Work = BoxFuture<'static, Result<(), WorkError>>;

/// Everything that runs. Dropped, it is aborted.
#[derive(Debug)]
struct Stages {
    tasks: JoinSet<Result<(), RunError>>,
    stop: CancellationToken,
    drain: Duration,
}

impl Stages {
    fn new(drain: Duration) -> Self {
        Self { tasks: JoinSet::new(), stop: CancellationToken::new(), drain }
    }

    /// Spawns the keeping of a stage's leases, and apart from it the work that they allow.
    fn spawn<S: Store>(
        &mut self,
        store: S,
        stage: Stage,
        shares: Vec<Share>,
        owner: Owner,
        config: LeaseConfig,
        work: impl Fn(Grant) -> Work + Send + 'static,
    ) {
        let (grants, granted) = mpsc::channel(shares.len().max(1));
        let (end, ended) = mpsc::channel(shares.len().max(1));
        let name = stage.to_string();
        let keeper = Keeper { store, stage, shares, owner, config, grants, ended, stop: self.stop.clone() };
        self.tasks.spawn(async move {
            keeper.keep().await;
            Ok(())
        });
        self.tasks.spawn(supervise(name, granted, end, work));
    }
}

/// Runs the work of each grant in a task of its own and reports its end to the keeper.
async fn supervise(
    stage: String,
    mut granted: mpsc::Receiver<Grant>,
    end: mpsc::Sender<Share>,
    work: impl Fn(Grant) -> Work + Send + 'static,
) -> Result<(), RunError> {
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            grant = granted.recv() => {
                let Some(grant) = grant else { break };
                let share = grant.fence.share.clone();
                let lost = grant.lost.clone();
                let work = work(grant);
                running.spawn(async move {
                    // A lost lease ends the work where it stands: nothing of it may be written any more.
                    let result = tokio::select! { biased;
                        () = lost.cancelled() => Ok(()),
                        result = work => result,
                    };
                    (share, result)
                });
            }
            Some(done) = running.join_next(), if !running.is_empty() => {
                // A bug that panics in our own code must not leave a stage that looks alive.
                let (share, result) = done.map_err(|error| stopped(&stage, Box::new(error)))?;
                result.map_err(|error| stopped(&stage, error))?;
                // The keeper is gone only when everything ends.
                let _ = end.send(share).await;
            }
        }
    }
    Ok(())
}

fn stopped(stage: &str, source: WorkError) -> RunError {
    RunError::Stage { stage: stage.to_owned(), source }
}

/// Relays and consumers that run in this process. Dropped, they are aborted: what they had in flight comes again.
#[derive(Debug)]
#[must_use = "dropped, it aborts"]
pub struct Runner {
    stages: Stages,
}

impl Runner {
    /// Waits until `shutdown` completes and stops, or until a stage fails for good.
    ///
    /// # Errors
    /// [`RunError::Stage`]; everything else is stopped too.
    ///
    /// # Cancel safety
    /// If dropped, everything is aborted.
    pub async fn run_until(mut self, shutdown: impl Future<Output = ()>) -> Result<(), RunError> {
        let mut failure = None;
        tokio::select! {
            () = shutdown => {}
            error = first_failure(&mut self.stages.tasks) => failure = Some(error),
        }
        let stopped = self.stop().await;
        failure.map_or(stopped, Err)
    }

    /// Stops: takes nothing new, finishes what is in flight, gives the leases back.
    ///
    /// # Errors
    /// [`RunError::Stage`] when a stage had failed for good.
    ///
    /// # Cancel safety
    /// If dropped, everything is aborted.
    pub async fn stop(mut self) -> Result<(), RunError> {
        self.stages.stop.cancel();
        let deadline = Instant::now() + self.stages.drain;
        let drained = async {
            let mut result = Ok(());
            while let Some(ended) = self.stages.tasks.join_next().await {
                if let Ok(Err(error)) = ended {
                    result = Err(error);
                }
            }
            result
        };
        match timeout_at(deadline, drained).await {
            Ok(result) => result,
            Err(_elapsed) => {
                tracing::warn!("work in flight did not end in time and was aborted; it comes again");
                Ok(())
            }
        }
    }
}

/// The first task that ends with an error; never completes while all is well.
async fn first_failure(tasks: &mut JoinSet<Result<(), RunError>>) -> RunError {
    loop {
        match tasks.join_next().await {
            Some(Ok(Err(error))) => return error,
            Some(Ok(Ok(()))) => {}
            Some(Err(error)) => return stopped("a task of the runner", Box::new(error)),
            None => std::future::pending().await,
        }
    }
}
