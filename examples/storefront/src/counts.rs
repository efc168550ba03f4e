//! What outbox counts, told to whoever watches. A real service would install the exporter of its metrics here.

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// How many events came that were known: the inbox of a consumer had them, or the broker did.
#[derive(Debug, Clone, Default)]
pub struct Duplicates(Arc<AtomicU64>);

impl Duplicates {
    /// Begins to count.
    ///
    /// # Panics
    /// When something else takes the metrics of this process.
    #[must_use]
    pub fn counted() -> Self {
        let duplicates = Self::default();
        metrics::set_global_recorder(duplicates.clone()).expect("nothing else records in this program");
        duplicates
    }

    /// How many there were since this process began.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Recorder for Duplicates {
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let is_duplicate =
            |key: &Key| key.labels().any(|label| label.key() == "outcome" && label.value() == "duplicate");
        if key.name() == "outbox_events_total" && is_duplicate(key) {
            return Counter::from_arc(self.0.clone());
        }
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }

    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
}
