//! The trait behind `#[derive(Event)]`: what a type must say to travel as an event.

use crate::payload::{DescribedBySchema, ReadFromJson, WrittenAsJson};
use crate::{AlsoAs, Upcast};

/// A struct that is enqueued, published and handled as one typed event.
///
/// Implement it with `#[derive(Event)]`, which also enters the type into the [`Catalog`](crate::Catalog).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event",
    label = "this type does not implement `Event`",
    note = "derive it: `#[derive(Event, Serialize, Deserialize, JsonSchema)] #[event(type = \"…\", version = 1, topic = \"…\")]`"
)]
pub trait Event: WrittenAsJson + ReadFromJson + DescribedBySchema + Send + Sync + 'static {
    /// The event type: segments of `[a-z0-9_-]` joined by dots, at most 200 characters.
    const TYPE: &'static str;
    /// The event version, 1 or higher.
    const VERSION: u32;
    /// The topic: `[a-z0-9_-]`, at most 100 characters.
    const TOPIC: &'static str;
    /// Whether events of one partition key keep their order.
    const ORDERING: OrderingMode;
    /// What happens to an event that is refused for good or has used up its attempts.
    const ON_POISON: OnPoison;
    /// How the event is made from a lower version of its type, if it is: a consumer that takes it then takes that too.
    const UPCAST: Option<Upcast<Self>> = None;
    /// How the event is written as a lower version of its type too, if it is.
    const ALSO_AS: Option<AlsoAs<Self>> = None;

    /// The partition key as text; `None` for unordered events.
    fn partition_key(&self) -> Option<String>;
}

/// Whether events of one partition key keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderingMode {
    /// Events of one partition key are delivered in the order of their transactions.
    Keyed,
    /// Events are delivered in any order.
    Unordered,
}

/// What happens to an event that is refused for good or has used up its attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnPoison {
    /// The event goes to the dead letters; later events of its key wait for a person.
    Park,
    /// The event is tried again for ever with capped backoff; later events of its key wait.
    Block,
    /// The event goes to the dead letters; later events of its key go on.
    Skip,
}

impl OnPoison {
    /// The word used in `#[event(on_poison = "…")]` and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Park => "park",
            Self::Block => "block",
            Self::Skip => "skip",
        }
    }

    /// The policy of that word; `None` for any other word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Park, Self::Block, Self::Skip].into_iter().find(|policy| policy.as_str() == word)
    }
}
