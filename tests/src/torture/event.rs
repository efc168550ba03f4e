//! What the producers tell, and how those who hear of it are to fare.

use crate::history::EventName;
use outbox::{Event, EventSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something told of a key, in the order of its transactions.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "torture.told", version = 1, topic = "torture")]
pub(super) struct Told {
    /// What it is about.
    #[event(key)]
    pub key: String,
    /// Tells events apart.
    pub n: i64,
    /// How it is to fare.
    pub plan: Plan,
    /// Makes it as large as it is.
    pub filler: String,
}

/// Something told in passing, in no order.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "torture.hinted", version = 1, topic = "torture", unordered)]
pub(super) struct Hinted {
    /// Tells events apart.
    pub n: i64,
    /// How it is to fare.
    pub plan: Plan,
}

/// Everything that is told.
#[derive(Debug, EventSet)]
pub(super) enum Said {
    /// Of a key.
    Told(Told),
    /// In passing.
    Hinted(Hinted),
}

/// How an event is to fare until everything is mended; from then on all go well that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) enum Plan {
    /// Well.
    Succeed,
    /// The handler fails twice, then it goes well.
    FailTwice,
    /// The handler fails.
    Fail,
    /// The handler fails and says that no retry can help.
    FailForGood,
    /// The handler panics.
    Panic,
    /// The handler takes longer than it may.
    Hang,
    /// The handler ignores an error that ended its transaction.
    Swallow,
    /// The handler's process ends.
    KillConsumer,
    /// The relay's process ends when it hands the event over.
    KillRelay,
    /// The broker takes no event of this size.
    TooLarge,
    /// No consumer can read it.
    #[serde(skip_deserializing)]
    Undecodable,
}

impl Plan {
    /// Every plan that goes wrong somewhere.
    pub(super) const BAD: [Self; 10] = [
        Self::FailTwice,
        Self::Fail,
        Self::FailForGood,
        Self::Panic,
        Self::Hang,
        Self::Swallow,
        Self::KillConsumer,
        Self::KillRelay,
        Self::TooLarge,
        Self::Undecodable,
    ];

    /// Whether it ends processes, which every other event feels.
    pub(super) fn is_deadly(self) -> bool {
        matches!(self, Self::KillConsumer | Self::KillRelay)
    }

    /// Whether no mending helps: somebody has to discard it.
    pub(super) fn is_hopeless(self) -> bool {
        matches!(self, Self::TooLarge | Self::Undecodable)
    }

    /// Whether it may become a dead letter of that stage for that reason.
    pub(super) fn may_end(self, stage: &str, reason: &str) -> bool {
        let own = match (self, stage.starts_with("consumer/")) {
            (Self::Fail | Self::FailForGood, true) => "handler-error",
            (Self::Swallow, true) => "handler-broke-transaction",
            (Self::Panic, true) => "handler-panic",
            (Self::Hang, true) => "handler-timeout",
            (Self::KillConsumer, true) | (Self::KillRelay, false) => "process-ended",
            (Self::Undecodable, true) => "undecodable",
            (Self::TooLarge, false) => "refused",
            _ => return false,
        };
        // The last attempt of one that fails each time may be cut short by a kill of ours.
        reason == own || reason == "process-ended"
    }
}

/// More than any broker takes by default.
const TOO_LARGE: usize = 1_100_000;

impl Told {
    pub(super) fn new(key: &str, n: i64, plan: Plan, filler: usize) -> Self {
        let filler = if plan == Plan::TooLarge { TOO_LARGE } else { filler };
        Self { key: key.to_owned(), n, plan, filler: "x".repeat(filler) }
    }
}

impl Said {
    pub(super) fn name(&self) -> EventName {
        let (key, n) = match self {
            Self::Told(told) => (Some(told.key.as_str()), told.n),
            Self::Hinted(hinted) => (None, hinted.n),
        };
        EventName::new(Told::TOPIC, key, n)
    }

    pub(super) fn plan(&self) -> Plan {
        match self {
            Self::Told(told) => told.plan,
            Self::Hinted(hinted) => hinted.plan,
        }
    }
}

/// The name and the plan in a payload, also in one that no consumer can read.
pub(super) fn name_and_plan(payload: &str) -> Option<(EventName, Plan)> {
    let value: serde_json::Value = serde_json::from_str(payload).ok()?;
    let name =
        EventName::new(Told::TOPIC, value.get("key").and_then(|key| key.as_str()), value.get("n")?.as_i64()?);
    let plan = value.get("plan")?.as_str()?;
    let is_it = |of: &Plan| format!("{of:?}") == plan;
    let plan = Plan::BAD.into_iter().find(is_it).unwrap_or(Plan::Succeed);
    Some((name, plan))
}
