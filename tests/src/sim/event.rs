//! The events of a simulation, and how their readers are to fare with them.

use crate::history::EventName;
use outbox::OnPoison;
use outbox::envelope::{EventId, Headers, NewEvent};
use uuid::Uuid;

/// The topic that all stages read.
pub(super) const SHARED: &str = "shared";
/// The topic that the relay alone reads.
pub(super) const RELAYED: &str = "relayed";

pub(super) const EVENT_TYPE: &str = "sim.noted";

/// How the readers of an event are to fare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    /// Well.
    Succeed,
    /// Handlers fail in so many attempts.
    HandlerFails(u32),
    /// Handlers fail until they are mended.
    HandlerFailsForGood,
    /// Handlers ignore an error of the database in their first attempt.
    HandlerSwallows,
    /// The broker refuses it until it is mended.
    BrokerRefuses,
}

impl Plan {
    fn as_text(self) -> String {
        match self {
            Self::Succeed => "succeed".to_owned(),
            Self::HandlerFails(attempts) => attempts.to_string(),
            Self::HandlerFailsForGood => "fail".to_owned(),
            Self::HandlerSwallows => "swallow".to_owned(),
            Self::BrokerRefuses => "refuse".to_owned(),
        }
    }

    /// The plan that an event carries.
    pub(super) fn of(event: &NewEvent) -> Self {
        match event.headers["plan"].as_str() {
            "succeed" => Self::Succeed,
            "fail" => Self::HandlerFailsForGood,
            "swallow" => Self::HandlerSwallows,
            "refuse" => Self::BrokerRefuses,
            attempts => Self::HandlerFails(attempts.parse().expect("a plan or a number")),
        }
    }
}

/// Makes the event number `n`.
pub(super) fn event(topic: &str, key: Option<&str>, n: i64, plan: Plan, on_poison: OnPoison) -> NewEvent {
    NewEvent {
        id: EventId(Uuid::from_u128(n.cast_unsigned().into())),
        source: "/simulation".to_owned(),
        topic: topic.to_owned(),
        key: key.map(str::to_owned),
        event_type: EVENT_TYPE.to_owned(),
        event_version: 1,
        payload: format!(r#"{{"eventType":"{EVENT_TYPE}","eventVersion":1,"n":{n}}}"#),
        dataschema: String::new(),
        headers: Headers::from([("plan".to_owned(), plan.as_text())]),
        traceparent: None,
        tracestate: None,
        twin: None,
        on_poison,
    }
}

/// The name of an event in the history.
pub(super) fn name_of(event: &NewEvent) -> EventName {
    let n = u64::try_from(event.id.0.as_u128()).expect("the id is the number");
    EventName::new(&event.topic, event.key.as_deref(), n.cast_signed())
}
