//! What is measured, as a program's exporter gets it.

use metrics::{Counter, CounterFn, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use outbox::{RelayConfig, Settings};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::world::{TestStore, World, eventually, noted, quick, quick_relay};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

on_each_store! {
    each_event_is_counted_by_what_became_of_it_and_a_rise_of_dead_letters_once,
}

/// Keeps every counter of this process, by its name and labels as Prometheus writes them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters(Arc<Mutex<BTreeMap<String, Arc<Count>>>>);

#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl CounterFn for Count {
    fn increment(&self, value: u64) {
        self.0.fetch_add(value, Ordering::SeqCst);
    }

    fn absolute(&self, value: u64) {
        self.0.store(value, Ordering::SeqCst);
    }
}

impl Counters {
    /// The ones of this process, whose tests all count.
    pub(crate) fn installed() -> &'static Self {
        static INSTALLED: OnceLock<Counters> = OnceLock::new();
        INSTALLED.get_or_init(|| {
            let counters = Self::default();
            metrics::set_global_recorder(counters.clone()).expect("no other test installs one");
            counters
        })
    }

    pub(crate) fn of(&self, stage: &str) -> BTreeMap<String, u64> {
        let counters = self.0.lock().unwrap();
        let of_stage = counters.iter().filter_map(|(name, count)| {
            let label = format!("stage={stage} ");
            name.contains(&label).then(|| (name.replace(&label, ""), count.0.load(Ordering::SeqCst)))
        });
        of_stage.collect()
    }
}

impl Recorder for Counters {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let mut name = format!("{} ", key.name());
        for label in key.labels() {
            name += &format!("{}={} ", label.key(), label.value());
        }
        let mut counters = self.0.lock().unwrap();
        Counter::from_arc(Arc::clone(counters.entry(name.trim_end().to_owned() + " ").or_default()))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

async fn each_event_is_counted_by_what_became_of_it_and_a_rise_of_dead_letters_once<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let counters = Counters::installed();
    let name = format!("measured-{}", S::NAME);
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("a");
    let relay = RelayConfig { name: name.clone(), ..quick_relay() };
    let often = |settings: &mut Settings| settings.alert_every = Duration::from_millis(50);
    let runner = world.outbox.runner().relay(relay, broker).settings(quick).settings(often);
    let runner = runner.start().await.unwrap();
    world.enqueue_each([noted("a", 0), noted("a", 1), noted("good", 2), noted("good", 3)]).await;

    let stage = format!("relay/{name}");
    let expected = [
        ("outbox_dead_letter_rises_total ", 1),
        ("outbox_events_total outcome=dead ", 1),
        ("outbox_events_total outcome=held ", 1),
        ("outbox_events_total outcome=published ", 2),
    ];
    let expected = BTreeMap::from(expected.map(|(name, count)| (name.to_owned(), count)));
    eventually("all is counted", async || counters.of(&stage) == expected).await;
    runner.stop().await.unwrap();
}
