//! Replay of a range of the log to one stage: what is asked, what it would reach, and how far it is.
//!
//! The leader of the stage takes the events up a few at a time, as if each had failed before: it holds them, due at once,
//! and newer events of their keys line up behind. So a replay keeps the order within each key, also towards live traffic,
//! is tried again as everything else, and goes on with the next leader where one dies.

use crate::{
    envelope::{Envelope, NewEvent, Seq},
    held::Stage,
};
use time::OffsetDateTime;

/// Which events of the log are to be replayed, and to whom. Every condition that is set must match. What the stage has not
/// settled yet is left out, since it comes anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Range {
    /// The relay, or the consumer that reads this log.
    pub stage: Stage,
    /// At this place of the log or behind it.
    pub from: Option<Seq>,
    /// At this place of the log or before it.
    pub through: Option<Seq>,
    /// Written at this time or later, by the database's clock.
    pub since: Option<OffsetDateTime>,
    /// Written before this time, by the database's clock.
    pub until: Option<OffsetDateTime>,
    /// Of one of these topics; empty: of all.
    pub topics: Vec<String>,
    /// Of one of these types; empty: of all.
    pub event_types: Vec<String>,
    /// Of this partition key.
    pub key: Option<String>,
    /// The topic that a relay publishes them to, instead of their own.
    pub to_topic: Option<String>,
    /// Whether a consumer handles again what it has handled before; else that is left out.
    pub again: bool,
}

impl Range {
    /// Everything that the log still has, to this stage.
    #[must_use]
    pub fn to(stage: Stage) -> Self {
        Self {
            stage,
            from: None,
            through: None,
            since: None,
            until: None,
            topics: Vec::new(),
            event_types: Vec::new(),
            key: None,
            to_topic: None,
            again: false,
        }
    }
}

/// What a replay of a range would reach, as of now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RangePlan {
    /// Events that match.
    pub matched: u64,
    /// Of those, how many the consumer has handled; they are left out, unless they are to be handled again.
    pub handled: u64,
    /// Of those, how many are dead letters of the stage; they are left out, and replayed as such.
    pub dead: u64,
    /// The first and the last of them.
    pub seqs: Option<(Seq, Seq)>,
    /// How many are to be replayed.
    pub open: u64,
}

impl RangePlan {
    #[doc(hidden)]
    #[must_use]
    pub fn from_row([matched, handled, dead]: [u64; 3], seqs: Option<(Seq, Seq)>, again: bool) -> Self {
        let left_out = dead + if again { 0 } else { handled };
        Self { matched, handled, dead, seqs, open: matched.saturating_sub(left_out) }
    }
}

/// A replay of a range that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RangeReplay {
    /// Its number in this store.
    pub id: i64,
    /// To whom.
    pub stage: Stage,
    /// The first and the last place of its range.
    pub seqs: (Seq, Seq),
    /// How many events matched when it was asked for.
    pub matched: u64,
    /// How many were taken up.
    pub taken: u64,
    /// How many were left out: handled before, dead letters, held already, or not wanted by the stage.
    pub left_out: u64,
    /// How far it is.
    pub state: RangeState,
    /// Who asked for it.
    pub asked_by: String,
    /// Why.
    pub why: String,
    /// When.
    pub asked_at: OffsetDateTime,
    /// When it ended.
    pub ended_at: Option<OffsetDateTime>,
}

/// How far a replay of a range is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RangeState {
    /// The leader of the stage takes its events up.
    Running,
    /// All were taken up. What matched and was neither taken nor left out had gone by retention.
    Done,
    /// The rest was taken back.
    Cancelled,
}

impl RangeState {
    /// The word in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    #[doc(hidden)]
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Running, Self::Done, Self::Cancelled].into_iter().find(|state| state.as_str() == word)
    }
}

/// The next events of a replay, as a store finds them.
#[doc(hidden)]
#[derive(Debug)]
pub struct RangeStep {
    /// The replay.
    pub id: i64,
    /// The topic instead of their own.
    pub to_topic: Option<String>,
    /// Whether handled ones are handled again.
    pub again: bool,
    /// The last place of the range.
    pub through: Seq,
    /// How many may be taken.
    pub max: i64,
}

impl RangeStep {
    /// Where the next look begins to look behind, after these events were read.
    #[must_use]
    pub fn read_to(&self, read: &[Envelope]) -> Seq {
        match read.last() {
            Some(last) if read.len() as i64 == self.max => last.seq,
            _ => self.through,
        }
    }

    /// Makes of the events that were read those that are to be held.
    #[must_use]
    pub fn of(&self, read: Vec<Envelope>, wants: impl Fn(&NewEvent) -> bool) -> Vec<Envelope> {
        let mut events: Vec<Envelope> = read.into_iter().filter(|envelope| wants(&envelope.event)).collect();
        if let Some(topic) = &self.to_topic {
            events.iter_mut().for_each(|envelope| envelope.event.topic.clone_from(topic));
        }
        events
    }
}
