//! The events of a world.

use crate::history::EventName;
use outbox::{Event, EventSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something to be noted by a handler, and how the handler is to fare.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "world.noted", version = 1, topic = "world")]
pub struct Noted {
    /// Notes of one key keep their order.
    #[event(key)]
    pub key: String,
    /// Tells notes apart.
    pub n: i64,
    /// How the handler is to fare.
    pub plan: Plan,
}

/// How a handler is to fare. Whatever the plan, it first writes its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Plan {
    /// Well.
    Succeed,
    /// It fails in that many attempts, then goes well.
    FailFirst(u32),
    /// It fails until [`World::mend`](super::World::mend).
    FailUntilMended,
    /// It fails and says that no retry can help.
    FailForGood,
    /// It panics in that many attempts.
    PanicFirst(u32),
    /// It ignores an error that ended its transaction, in that many attempts, and returns Ok.
    SwallowFirst(u32),
    /// It commits its transaction by itself and then fails, in that many attempts.
    CommitAndFailFirst(u32),
    /// It takes longer than it may, in the first attempt.
    HangFirst,
    /// It ends its process, every time.
    KillProcess,
    /// Well, after so many milliseconds.
    TakeMillis(u32),
}

impl Plan {
    /// Whether the handler fails with it, at least at first.
    #[must_use]
    pub fn is_bad(self) -> bool {
        self != Self::Succeed && !matches!(self, Self::TakeMillis(_))
    }
}

impl Noted {
    /// The note's name in a history.
    #[must_use]
    pub fn name(&self) -> EventName {
        EventName::new(Self::TOPIC, Some(&self.key), self.n)
    }
}

/// The name in a history of the note in a payload.
///
/// # Panics
/// If something else is in it.
#[must_use]
pub fn name_in(payload: &str) -> EventName {
    serde_json::from_str::<Noted>(payload).expect("the payload is a note").name()
}

/// Something that was heard; in no order.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "world.heard", version = 1, topic = "world", unordered)]
pub struct Heard {
    /// Tells what was heard apart.
    pub n: i64,
}

/// Everything that is told in this world.
#[derive(Debug, EventSet)]
pub enum Told {
    /// A note.
    Noted(Noted),
    /// Something heard.
    Heard(Heard),
}

/// Makes a note that goes well.
#[must_use]
pub fn noted(key: &str, n: i64) -> Noted {
    planned(key, n, Plan::Succeed)
}

/// Makes a note with a plan.
#[must_use]
pub fn planned(key: &str, n: i64, plan: Plan) -> Noted {
    Noted { key: key.to_owned(), n, plan }
}
