//! Counts what this thread logs for people: warnings and errors.

use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Metadata, Subscriber};

/// What was logged for people, as lines of level and message.
#[derive(Debug, Clone, Default)]
pub struct Warnings {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Warnings {
    /// Listens on this thread, as long as the guard is kept.
    #[must_use]
    pub fn listen() -> (Self, DefaultGuard) {
        let warnings = Self::default();
        (warnings.clone(), tracing::subscriber::set_default(warnings))
    }

    /// The lines so far.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && metadata.target().starts_with("outbox")
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.lines.lock().unwrap().push(format!("{} {}", event.metadata().level(), message.0));
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}
