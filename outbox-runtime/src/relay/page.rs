//! One page on its way through the broker: which event may go next, and what became of each.

use super::{RelayConfig, topics::Topics};
use crate::{
    backoff::RetryPolicy,
    broker::{BrokerError, Outgoing, Published},
    cursor::{LogEvent, Page, Settled},
    envelope::{Envelope, EventId},
    held::{Change, Failure, HeldEvent, HeldId, Lane},
    poison::{self, Attempt},
    suspicion::{self, Cleared},
    telemetry,
};
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

/// The reason of an event that the broker may or may not have stored.
const NOT_CONFIRMED: &str = "not-confirmed";

/// A page between its reading and its settling, with the heads that were due beside it.
#[derive(Debug, Default)]
pub(crate) struct PageInWork {
    items: Vec<Item>,
    lanes: Vec<LaneInWork>,
    /// Numbers of the lanes that have an open event.
    active: Vec<usize>,
    settled: Settled,
    full: bool,
    /// Whether an event was not confirmed.
    has_failures: bool,
    /// Whether the event that ended the process before is among them, and charged.
    pub(super) is_charged: bool,
    /// Whether every head that was due was read, and all that was in the log, so that behind them nothing can have been in
    /// work before.
    pub(super) was_last_head: bool,
    pub(super) was_last_new: bool,
}

/// One event of a page, or the head of a lane that waits.
#[derive(Debug)]
struct Item {
    envelope: Envelope,
    /// Its lane's number in this page; `None` when the lane waits and the event goes behind.
    lane: Option<usize>,
    /// Attempts charged and whether it is a replay; `None` when it comes from the log.
    held: Option<(u32, bool)>,
    outcome: Outcome,
}

#[derive(Debug)]
enum Outcome {
    /// To be published.
    Open,
    /// Confirmed by the broker, which may have had it already.
    Confirmed { duplicate: bool },
    /// Not confirmed: refused for good, or to be tried again. `cause` is what may be wrong with more than this event.
    Failed { failure: Failure, for_good: bool, cause: Option<String> },
    /// Charged without being published: it ended the process before, or cannot be read.
    Withheld { failure: Failure, for_good: bool },
    /// Not confirmed, and it is not known to be the event's fault.
    Postponed { failure: Failure, cause: Option<String> },
    /// Behind an event of its lane that failed or waits.
    Behind,
}

/// The events of one lane in this page, in order.
#[derive(Debug, Default)]
struct LaneInWork {
    items: Vec<usize>,
    /// How many of them are confirmed.
    confirmed: usize,
}

impl PageInWork {
    /// A page of heads alone.
    pub(super) fn of_heads(heads: Vec<HeldEvent>) -> Self {
        Self::new(heads, Page::default(), &HashSet::new())
    }

    /// A page of the log and the heads that are due; events of the lanes in `waiting` go behind.
    pub(super) fn new(heads: Vec<HeldEvent>, page: Page, waiting: &HashSet<Lane>) -> Self {
        let mut late = page.late_unmatched;
        late.extend(page.events.iter().filter(|event| event.late).map(|event| event.envelope.seq));
        let settled = Settled { through: page.through, late };
        let mut work = Self { settled, full: page.full, ..Self::default() };
        for head in heads {
            let lane = work.add_lane();
            work.add(head.envelope, Some(lane), Some((head.attempts, head.replayed)));
        }
        let mut lanes: HashMap<(String, String), usize> = HashMap::new();
        for LogEvent { envelope, .. } in page.events {
            if !waiting.is_empty() && waiting.contains(&Lane::of(&envelope)) {
                work.add(envelope, None, None);
                continue;
            }
            let lane = match &envelope.key {
                None => work.add_lane(),
                Some(key) => {
                    let of_key = lanes.entry((envelope.topic.clone(), key.clone()));
                    *of_key.or_insert_with(|| work.add_lane())
                }
            };
            work.add(envelope, Some(lane), None);
        }
        work.withhold_malformed();
        work
    }

    fn withhold_malformed(&mut self) {
        for index in 0..self.items.len() {
            let item = &self.items[index];
            if let (Some(problem), Outcome::Open) = (item.envelope.malformed(), &item.outcome) {
                let failure = Failure { reason: "undecodable", error_chain: problem.to_owned() };
                self.record(index, Outcome::Withheld { failure, for_good: true });
            }
        }
        self.forget_finished_lanes();
    }

    fn add_lane(&mut self) -> usize {
        self.lanes.push(LaneInWork::default());
        self.active.push(self.lanes.len() - 1);
        self.lanes.len() - 1
    }

    fn add(&mut self, envelope: Envelope, lane: Option<usize>, held: Option<(u32, bool)>) {
        let outcome = match lane {
            Some(lane) => {
                self.lanes[lane].items.push(self.items.len());
                Outcome::Open
            }
            None => Outcome::Behind,
        };
        self.items.push(Item { envelope, lane, held, outcome });
    }

    /// Whether nothing was read and no head was due.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.settled == Settled::default()
    }

    /// Whether more rows are likely to be in the log at once.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// What of the log is finished with this page.
    pub(super) fn settled(self) -> Settled {
        self.settled
    }

    /// The events that may be in flight together: the next of each lane, or all of it where the broker keeps the order
    /// of a lane through failures.
    pub(super) fn next_wave(&self, whole_lanes: bool) -> Vec<usize> {
        let next = |lane: &usize| {
            let LaneInWork { items, confirmed } = &self.lanes[*lane];
            let end = if whole_lanes { items.len() } else { confirmed + 1 };
            items[*confirmed..end].iter().copied()
        };
        self.active.iter().flat_map(next).collect()
    }

    /// What the broker is given of a wave.
    pub(super) fn outgoing(&self, wave: &[usize]) -> Vec<Outgoing<'_>> {
        wave.iter().map(|index| self.items[*index].outgoing()).collect()
    }

    /// Whether the broker said "try again" to all of a wave and to nothing of the page anything else: it may be in trouble
    /// as a whole.
    pub(super) fn is_in_trouble(&self, answers: &[Published]) -> bool {
        let is_answered =
            |item: &Item| matches!(item.outcome, Outcome::Confirmed { .. } | Outcome::Failed { .. });
        answers.iter().all(|answer| matches!(answer, Published::TryAgain(_)))
            && !self.items.iter().any(is_answered)
    }

    /// Whether all of a wave is held already.
    pub(super) fn is_of_heads(&self, wave: &[usize]) -> bool {
        wave.iter().all(|index| self.items[*index].held.is_some())
    }

    /// Takes the broker's word on a wave. With `uncharged`, "try again" counts as no attempt.
    pub(super) fn take_answers(&mut self, wave: &[usize], answers: Vec<Published>, uncharged: bool) {
        for (index, answer) in wave.iter().zip(answers) {
            let outcome = match answer {
                Published::Confirmed { duplicate } => {
                    if duplicate {
                        tracing::debug!("the broker had the event already");
                    }
                    Outcome::Confirmed { duplicate }
                }
                Published::Refused(error) => {
                    let (failure, cause) = (failure("refused", &error), error.shared_cause());
                    Outcome::Failed { failure, for_good: true, cause }
                }
                Published::TryAgain(error) => {
                    let (failure, cause) = (failure(NOT_CONFIRMED, &error), error.shared_cause());
                    match uncharged {
                        true => Outcome::Postponed { failure, cause },
                        false => Outcome::Failed { failure, for_good: false, cause },
                    }
                }
            };
            self.record(*index, outcome);
        }
        self.forget_finished_lanes();
    }

    fn forget_finished_lanes(&mut self) {
        let lanes = &self.lanes;
        self.active.retain(|lane| lanes[*lane].confirmed < lanes[*lane].items.len());
    }

    /// The events in the page, from the log and held ones.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.items.len()).unwrap_or(u32::MAX)
    }

    /// What of it will be cleared of suspicion once it has ended well.
    pub(super) fn to_clear(&self) -> Cleared {
        let heads = self.items.iter().filter(|item| item.held.is_some()).count();
        let heads = u32::try_from(heads).unwrap_or(u32::MAX);
        let (was_last_head, was_last_new) = (self.was_last_head, self.was_last_new);
        Cleared { heads, new: self.len() - heads, was_last_head, was_last_new }
    }

    /// The event of the page, where there is one alone.
    pub(super) fn only(&self) -> Option<EventId> {
        match &self.items[..] {
            [item] => Some(item.envelope.id),
            _ => None,
        }
    }

    /// Charges the event that ended the process before, instead of publishing it; whether it is in the page.
    pub(super) fn charge(&mut self, ended: EventId) -> bool {
        let is_it = |item: &Item| item.envelope.id == ended && matches!(item.outcome, Outcome::Open);
        let Some(index) = self.items.iter().position(is_it) else { return false };
        self.record(index, Outcome::Withheld { failure: suspicion::failure(), for_good: false });
        self.forget_finished_lanes();
        self.is_charged = true;
        true
    }

    /// Takes the events of paused topics out of the page, but for those that try the topic. Before anything is published.
    pub(super) fn hold_back(&mut self, topics: &mut Topics) {
        if topics.is_empty() {
            return;
        }
        for index in self.next_wave(false) {
            if let Some(failure) = topics.hold_back(&self.items[index].envelope.topic) {
                self.record(index, Outcome::Postponed { failure, cause: None });
            }
        }
        self.forget_finished_lanes();
    }

    /// Decides which failures are their topic's and not the events': those are not charged. After everything is answered.
    pub(super) fn judge(&mut self, topics: &mut Topics) {
        if !self.has_failures && topics.is_empty() {
            return;
        }
        let topic_of = |item: &Item| item.envelope.topic.clone();
        let is_confirmed = |item: &&Item| matches!(item.outcome, Outcome::Confirmed { .. });
        let well: HashSet<String> = self.items.iter().filter(is_confirmed).map(topic_of).collect();
        well.iter().for_each(|topic| topics.flows(topic));
        for item in self.items.iter().filter(|item| !well.contains(&item.envelope.topic)) {
            if let Outcome::Failed { failure, cause: Some(cause), .. }
            | Outcome::Postponed { failure, cause: Some(cause) } = &item.outcome
            {
                topics.failed(&item.envelope.topic, Lane::of(&item.envelope), cause, failure);
            }
        }
        for item in &mut self.items {
            if let Outcome::Failed { failure, cause: cause @ Some(_), .. } = &mut item.outcome
                && topics.is_paused(&item.envelope.topic)
            {
                item.outcome = Outcome::Postponed { failure: failure.clone(), cause: cause.take() };
            }
        }
        topics.end_tries();
    }

    /// Records one outcome. Behind a failed event the open rest of its lane waits.
    fn record(&mut self, index: usize, outcome: Outcome) {
        let lane = self.items[index].lane.expect("only events of a lane are published");
        let LaneInWork { items, confirmed } = &mut self.lanes[lane];
        if matches!(outcome, Outcome::Confirmed { .. }) {
            if items.get(*confirmed) == Some(&index) {
                *confirmed += 1;
                self.items[index].outcome = outcome;
            }
            return;
        }
        self.has_failures = true;
        // Where whole lanes go out at once, an earlier event of the lane may have failed in the same wave.
        let Some(place) = items.iter().position(|item| *item == index) else { return };
        let behind = items.split_off(place);
        for item in behind {
            if matches!(self.items[item].outcome, Outcome::Open) {
                self.items[item].outcome = Outcome::Behind;
            }
        }
        self.items[index].outcome = outcome;
    }

    /// What is to become of the events that failed, of those behind them, and of heads that are done.
    pub(super) fn changes(&self, config: &RelayConfig, takeover: Duration) -> Vec<Change> {
        let change = |item: &Item| match (&item.outcome, item.held) {
            (Outcome::Confirmed { .. }, Some(_)) => Some(Change::Done { held: HeldId::of(&item.envelope) }),
            (Outcome::Failed { failure, for_good, .. } | Outcome::Withheld { failure, for_good }, held) => {
                let attempt = Attempt {
                    envelope: &item.envelope,
                    attempts_before: held.map(|(attempts, _)| attempts),
                    failure: failure.clone(),
                    for_good: *for_good,
                    retry: &config.retry,
                    rest: suspicion::rest_after(failure, takeover),
                    policy: config.policy_of(&item.envelope),
                };
                Some(attempt.judge().0)
            }
            (Outcome::Postponed { failure, .. }, held) => {
                Some(postponed(&item.envelope, held, failure.clone()))
            }
            (Outcome::Behind, _) => Some(Change::Behind { envelope: item.envelope.clone() }),
            (Outcome::Confirmed { .. } | Outcome::Open, _) => None,
        };
        self.items.iter().filter_map(change).collect()
    }

    /// How many events are published: those that the broker took, and those that it had already.
    pub(super) fn published(&self) -> (u64, u64) {
        self.items.iter().fold((0, 0), |(fresh, duplicates), item| match item.outcome {
            Outcome::Confirmed { duplicate: false } => (fresh + 1, duplicates),
            Outcome::Confirmed { duplicate: true } => (fresh, duplicates + 1),
            _ => (fresh, duplicates),
        })
    }
}

impl Item {
    fn outgoing(&self) -> Outgoing<'_> {
        // Inside its own dedup window a broker would drop the copy that a replay asks for.
        let is_replay = self.held.is_some_and(|(_, replayed)| replayed);
        let message_id = if is_replay { uuid::Uuid::new_v4() } else { self.envelope.id.0 };
        Outgoing { envelope: &self.envelope, message_id }
    }
}

fn failure(reason: &'static str, error: &BrokerError) -> Failure {
    Failure { reason, error_chain: telemetry::error_chain(error) }
}

/// Holds an event for another attempt and charges none.
fn postponed(envelope: &Envelope, held: Option<(u32, bool)>, failure: Failure) -> Change {
    let retry_in = RetryPolicy::about(poison::NOT_YET_MAX);
    match held {
        None => Change::Hold { envelope: envelope.clone(), attempts: 0, retry_in, failure },
        Some((attempts, _)) => Change::Retry { held: HeldId::of(envelope), attempts, retry_in, failure },
    }
}
