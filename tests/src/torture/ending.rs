//! How a torture ends: nothing breaks any more, everything is mended, all must settle, and the records are judged.

use super::actor::{self, Role};
use super::arena::Arena;
use super::event::{Told, name_and_plan};
use super::mirror::Mirror;
use super::person::Decision;
use super::record::{self, Line, Step, now};
use super::store::TortureStore;
use super::verdict::{self, Outcome};
use super::{deaths, ranges, stall};
use crate::history::{EventName, Fate, Reader};
use crate::servers::BrokerServer;
use outbox::broker::{AckToken, Delivery, SubscriptionConfig};
use outbox::{DeadLetter, Event, Terms};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How often it is looked whether everything has settled.
const LOOK: Duration = Duration::from_millis(500);

/// How long all messages of the broker may take to be read.
const READ_MAX: Duration = Duration::from_secs(180);

/// The relay that the consumers are behind.
const RELAY: &str = "relay/default";

impl<S: TortureStore> Arena<S> {
    /// The consumer, and then who else must get the events.
    fn readers(&self) -> Vec<Reader> {
        let behind = self.ground.broker.is_some().then(|| RELAY.to_owned());
        let consumer = Reader { behind, ..Reader::consumer(&format!("consumer/{}", S::CONSUMER)) };
        let mirror = Reader { keyed: true, ..Reader::relay(Mirror::STAGE) };
        let relay = self.ground.broker.is_some().then(|| Reader::relay(RELAY));
        [consumer, mirror].into_iter().chain(relay).collect()
    }

    /// Brings everything to rest and judges it.
    ///
    /// # Errors
    /// What was broken.
    pub(super) async fn end(&self) -> Result<(), String> {
        self.stop_producing().await;
        std::fs::write(actor::mended(&self.folder), "").expect("the folder can be written");
        let settled = self.settle().await;
        self.write_end().await.map_err(|error| format!("the end could not be read: {error}"))?;
        let lines = record::read_all(&self.folder).map_err(|error| format!("a record is broken: {error}"))?;
        self.count(&lines);
        self.count_deaths(&lines);
        let left = self.outbox.store().log_size().await.map_err(|error| error.to_string())?;
        self.figures.add("events left in the log by retention", left.cast_unsigned());
        let history = verdict::history_of(&lines, self.readers())?;
        history.check().map_err(|fault| fault.to_string())?;
        settled
    }

    async fn stop_producing(&self) {
        let mut crew = self.crew.lock().await;
        crew.want(Role::Producer, 0);
        for role in [Role::Relay, Role::Consumer] {
            let wanted = crew.wanted(role).min(2);
            crew.want(role, wanted);
        }
        drop(crew);
        while self.crew.lock().await.count(Role::Producer) > 0 {
            sleep(LOOK).await;
        }
    }

    /// Waits until every committed event is handled, or was discarded, and every replay has come to its end. What the
    /// broker has it is asked afterwards.
    async fn settle(&self) -> Result<(), String> {
        let readers: Vec<Reader> =
            self.readers().into_iter().filter(|reader| reader.stage != RELAY).collect();
        let terms = Terms::new("torture", "everything is mended");
        let mut decide = |letter: &DeadLetter| match name_and_plan(&letter.envelope.payload) {
            Some((_, plan)) if !plan.is_hopeless() => Decision::Replay,
            _ => Decision::Discard,
        };
        let (mut least, mut since) = (u64::MAX, Instant::now());
        loop {
            let dead = self.person.lock().await.look(self, &terms, &mut decide).await;
            let replays = ranges::open(self).await;
            let lines = self.lines_so_far().await;
            let (Ok(dead), Ok(replays), Ok(lines)) = (dead, replays, lines) else {
                sleep(LOOK).await;
                continue;
            };
            let missing: Vec<String> =
                readers.iter().flat_map(|reader| verdict::missing(&lines, reader)).collect();
            let open = missing.len() as u64 + dead + replays;
            if open == 0 {
                return Ok(());
            }
            if open < least {
                (least, since) = (open, Instant::now());
            }
            let patience = self.options.patience;
            if since.elapsed() > patience {
                let status = self.outbox.store().status().await;
                return Err(format!(
                    "G7 is broken: nothing moved for {patience:?}; {dead} dead letters, {replays} events \
                     to replay, missing: {:?} …\n{status:#?}",
                    &missing[..missing.len().min(10)]
                ));
            }
            sleep(LOOK).await;
        }
    }

    /// The records, and what stands in the database.
    async fn lines_so_far(&self) -> Result<Vec<Line>, Box<dyn Error>> {
        let mut lines = record::read_all(&self.folder)?;
        lines.extend(self.standing().await?);
        lines.sort_by_key(|line| line.at);
        Ok(lines)
    }

    async fn standing(&self) -> Result<Vec<Line>, sqlx::Error> {
        let store = self.outbox.store();
        let at = now();
        let ledger = store.ledger().await?.into_iter().map(|tx| Line { at, step: Step::Entered(tx) });
        let mut lines: Vec<Line> = ledger.collect();
        for effect in store.effects().await? {
            let what = Fate::Handled.of(&format!("consumer/{}", effect.consumer), &effect.event);
            lines.push(Line { at: effect.at, step: Step::Happened(what) });
        }
        Ok(lines)
    }

    /// Writes what stands in the database and at the broker into a record of its own.
    async fn write_end(&self) -> Result<(), Box<dyn Error>> {
        let end = record::Record::create(&self.folder.join("end.record"))?;
        for line in self.standing().await? {
            end.write_at(line.at, line.step);
        }
        if let Some(server) = &self.ground.broker {
            let messages = messages(server).await?;
            let events: Vec<EventName> = messages.into_values().flatten().collect();
            let distinct = events.iter().collect::<BTreeSet<_>>().len();
            self.figures.add("messages at the broker", events.len() as u64);
            self.figures.add("duplicates at the broker", (events.len() - distinct) as u64);
            events.iter().for_each(|event| end.write(Step::Happened(Fate::Published.of(RELAY, event))));
        }
        Ok(())
    }

    /// Counts what deadly payloads did, and notes those that ended too many processes.
    fn count_deaths(&self, lines: &[Line]) {
        let deaths = deaths::of(lines);
        self.figures.add("deadly payloads that ended processes, each at each stage", deaths.len() as u64);
        let most = deaths.iter().map(|deaths| deaths.count).max().unwrap_or_default();
        self.figures.add("processes ended by one payload at one stage at most", most);
        for deaths in deaths {
            tracing::info!(%deaths, "a deadly payload");
            if deaths.are_too_many() {
                self.problem(format!("G5 is broken: {deaths}"));
            }
        }
    }

    fn count(&self, lines: &[Line]) {
        let outcomes = verdict::outcomes(lines, &self.readers()[0]);
        self.figures.add("events committed", outcomes.len() as u64);
        verdict::ends(lines).into_iter().for_each(|(what, count)| self.figures.add(what, count));
        let good: Vec<&Outcome> = outcomes
            .iter()
            .filter(|outcome| outcome.event.key.as_deref().is_some_and(|key| key.starts_with("good")))
            .collect();
        let millis = |what: &str, span: Duration| self.figures.add(what, span.as_millis() as u64);
        let longest = good.iter().filter_map(|outcome| outcome.took()).max();
        millis("ms from commit to effect at most, of keys without a bad event", longest.unwrap_or_default());
        let stalls = stall::longest(&good);
        millis("ms without any effect at most, while one of these waited", stalls.all.span());
        millis(
            "ms without an effect of one of these keys at most, while one of it waited",
            stalls.key.span(),
        );
        tracing::info!(?stalls, "the longest stalls");
    }
}

/// Everything that the broker holds, by its place there; strangers' messages are no events.
async fn messages(
    server: &BrokerServer,
) -> Result<BTreeMap<(usize, u64), Option<EventName>>, Box<dyn Error>> {
    let broker = actor::broker(&server.url());
    let mut subscriptions = Vec::new();
    let partitions = broker.partitions(Told::TOPIC).await?;
    // Before any of them is taken.
    let count = server.count_messages(Told::TOPIC).await;
    for partition in partitions {
        let config = SubscriptionConfig {
            consumer: BrokerServer::WITNESS.to_owned(),
            topic: Told::TOPIC.to_owned(),
            partition,
            ack_wait: Duration::from_secs(60),
            in_flight_max: 1_000,
        };
        subscriptions.push(broker.subscribe(&config).await?);
    }
    let deadline = Instant::now() + READ_MAX;
    let mut messages = BTreeMap::new();
    while (messages.len() as u64) < count {
        if Instant::now() > deadline {
            return Err(format!("only {} of {count} messages could be read", messages.len()).into());
        }
        for (partition, subscription) in subscriptions.iter_mut().enumerate() {
            let deliveries = subscription.next(1_000, LOOK / 5).await?;
            let tokens: Vec<AckToken> = deliveries.iter().map(|delivery| delivery.token).collect();
            for Delivery { token, event } in deliveries {
                let name = event.ok().and_then(|event| Some(name_and_plan(&event.payload)?.0));
                messages.insert((partition, token.0), name);
            }
            subscription.ack(&tokens).await?;
        }
    }
    Ok(messages)
}
