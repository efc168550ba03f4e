//! The sorted list of every event and consumer that is linked into this binary.

use crate::EventDescriptor;
use std::fmt;

/// One consumer as documents need it, written by `#[consumer]`.
#[derive(Debug, Clone, Copy)]
pub struct ConsumerEntry {
    /// The consumer's name, formed like an event type.
    pub name: &'static str,
    /// The events it takes.
    pub events: fn() -> Vec<ConsumedEvent>,
    /// The package that declares it.
    pub package: &'static str,
    /// The source file of the handler.
    pub file: &'static str,
    /// The line of the handler's name.
    pub line: u32,
}

/// One (event type, event version) that a consumer takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConsumedEvent {
    /// The event type.
    pub event_type: &'static str,
    /// The event version.
    pub event_version: u32,
    /// The topic the event travels on.
    pub topic: &'static str,
    /// The version that the event is made into before the handler sees it; `None` when the handler takes it as it is.
    pub upcast_to: Option<u32>,
}

impl ConsumedEvent {
    /// Whether both are of one event type and version, however they are taken.
    #[must_use]
    pub fn is_of_version(&self, other: &Self) -> bool {
        (self.event_type, self.event_version) == (other.event_type, other.event_version)
    }
}

inventory::collect!(ConsumerEntry);

/// Every event and consumer linked into this binary, sorted: events by type and version, consumers by name.
#[derive(Debug, Clone)]
pub struct Catalog {
    events: Vec<&'static EventDescriptor>,
    consumers: Vec<&'static ConsumerEntry>,
}

impl Catalog {
    /// Collects the catalog of this binary; it may be empty.
    ///
    /// # Errors
    /// [`CatalogError`] names every (type, version) and every consumer name that is declared twice.
    pub fn collect() -> Result<Self, CatalogError> {
        Self::new(
            inventory::iter::<EventDescriptor>.into_iter().collect(),
            inventory::iter::<ConsumerEntry>.into_iter().collect(),
        )
    }

    /// Makes a catalog of the given entries.
    ///
    /// # Errors
    /// As [`Catalog::collect`].
    pub fn new(
        mut events: Vec<&'static EventDescriptor>,
        mut consumers: Vec<&'static ConsumerEntry>,
    ) -> Result<Self, CatalogError> {
        events.sort_by_key(|event| (event.event_type, event.event_version, event.file, event.line));
        consumers.sort_by_key(|consumer| (consumer.name, consumer.file, consumer.line));
        let mut lines = Vec::new();
        for pair in events.windows(2) {
            if (pair[0].event_type, pair[0].event_version) == (pair[1].event_type, pair[1].event_version) {
                lines.push(format!(
                    "event `{}` version {} is declared at {}:{} and at {}:{}; give one of them another type or version",
                    pair[0].event_type, pair[0].event_version, pair[0].file, pair[0].line, pair[1].file, pair[1].line
                ));
            }
        }
        for consumer in &consumers {
            let mut taken = (consumer.events)();
            taken.sort_unstable();
            for pair in taken.windows(2).filter(|pair| pair[0] == pair[1]) {
                lines.push(format!(
                    "consumer `{}` at {}:{} takes event `{}` version {} by two variants of its set; remove one",
                    consumer.name, consumer.file, consumer.line, pair[0].event_type, pair[0].event_version
                ));
            }
        }
        for pair in consumers.windows(2) {
            if pair[0].name == pair[1].name {
                lines.push(format!(
                    "consumer `{}` is declared at {}:{} and at {}:{}; give one of them another name",
                    pair[0].name, pair[0].file, pair[0].line, pair[1].file, pair[1].line
                ));
            }
        }
        if lines.is_empty() { Ok(Self { events, consumers }) } else { Err(CatalogError::Duplicates(lines)) }
    }

    /// The events, sorted by type and version.
    #[must_use]
    pub fn events(&self) -> &[&'static EventDescriptor] {
        &self.events
    }

    /// The consumers, sorted by name.
    #[must_use]
    pub fn consumers(&self) -> &[&'static ConsumerEntry] {
        &self.consumers
    }

    /// This catalog, or an error that says what to write when it has no event.
    ///
    /// # Errors
    /// [`CatalogError::Empty`].
    pub fn not_empty(self) -> Result<Self, CatalogError> {
        if self.events.is_empty() { Err(CatalogError::Empty) } else { Ok(self) }
    }
}

/// Why there is no usable catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogError {
    /// No event is linked into this binary.
    Empty,
    /// Entries that share one identity, a line each.
    Duplicates(Vec<String>),
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "the catalog is empty: no event is linked into this binary; the linker drops a crate nobody names, \
                 so write `use my_events as _;` (with your events crate) in the file with `main`",
            ),
            Self::Duplicates(lines) => f.write_str(&lines.join("\n")),
        }
    }
}

impl std::error::Error for CatalogError {}
