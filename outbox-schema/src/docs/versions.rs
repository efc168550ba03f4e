//! The versions of one event type side by side: which are live, who reads which, and when an old one can go.

use super::markdown::{list, put};
use crate::{Catalog, ConsumerEntry, EventDescriptor};

/// A consumer that takes an event.
pub(super) struct Reader<'a> {
    pub(super) consumer: &'a ConsumerEntry,
    /// The version that its handler gets instead, made from this one.
    pub(super) upcast_to: Option<u32>,
}

/// The consumers that take an event, sorted by name.
pub(super) fn readers<'a>(catalog: &'a Catalog, event: &EventDescriptor) -> Vec<Reader<'a>> {
    let reader = |consumer: &&'a ConsumerEntry| {
        let taken = (consumer.events)();
        let is_it = |taken: &&crate::ConsumedEvent| {
            (taken.event_type, taken.event_version) == (event.event_type, event.event_version)
        };
        let upcast_to = taken.iter().find(is_it)?.upcast_to;
        Some(Reader { consumer, upcast_to })
    };
    catalog.consumers().iter().filter_map(reader).collect()
}

/// One row for each version, where there is more to tell than one that is live. `versions` are those of one type, sorted.
pub(super) fn table(page: &mut String, catalog: &Catalog, versions: &[&EventDescriptor]) {
    if versions.len() == 1 && versions[0].retired.is_none() {
        return;
    }
    put(page, "| version | state | read as it is by | read as a newer version by | when it can go |");
    put(page, "|---|---|---|---|---|");
    for event in versions.iter().rev() {
        let readers = readers(catalog, event);
        let named = |is_upcast: bool| {
            let of_kind = readers.iter().filter(move |reader| reader.upcast_to.is_some() == is_upcast);
            of_kind.map(|reader| match reader.upcast_to {
                Some(version) => format!("{} (version {version})", reader.consumer.name),
                None => reader.consumer.name.to_owned(),
            })
        };
        let row = [
            event.event_version.to_string(),
            state(event, versions),
            list(named(false)),
            list(named(true)),
            when_it_can_go(event, versions, &list(named(false))),
        ];
        put(page, &format!("| {} |", row.join(" | ")));
    }
    put(
        page,
        "\nBefore a version goes, its events must be past the retention of every log and broker, and none may be left \
         among the dead letters.",
    );
}

fn state(event: &EventDescriptor, versions: &[&EventDescriptor]) -> String {
    let base = event.retired.map_or_else(|| "live".to_owned(), |day| format!("retired on {day}"));
    let made = (event.upcast_from)().map(|from| format!("made from version {from} too"));
    let written = written_with(event, versions).map(|newer| format!("written with each version {newer}"));
    std::iter::once(base).chain(made).chain(written).collect::<Vec<_>>().join("; ")
}

/// The newer version that is written as this one too.
fn written_with(event: &EventDescriptor, versions: &[&EventDescriptor]) -> Option<u32> {
    let newer = versions.iter().find(|newer| (newer.also_as)() == Some(event.event_version));
    newer.map(|newer| newer.event_version)
}

fn when_it_can_go(event: &EventDescriptor, versions: &[&EventDescriptor], readers: &str) -> String {
    let is_newest = versions.last().is_some_and(|newest| newest.event_version == event.event_version);
    let keeps = written_with(event, versions).map(|newer| format!("version {newer} is written as it too"));
    let reads = (readers != "none").then(|| format!("it is read as it is by {readers}"));
    let kept: Vec<String> = keeps.into_iter().chain(reads).collect();
    match (event.retired, is_newest) {
        (None, true) => "it is the newest".to_owned(),
        _ if !kept.is_empty() => format!("not yet: {}", kept.join(", and ")),
        (Some(day), _) => format!("after {day}; nobody in these crates reads it as it is"),
        (None, false) => {
            "nobody in these crates reads it as it is; announce a day with `retired = \"…\"`".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConsumedEvent, KeySource, OnPoison, OrderingMode};
    use serde_json::Value;

    fn version(event_version: u32) -> EventDescriptor {
        EventDescriptor {
            event_type: "orders.placed",
            event_version,
            topic: "orders",
            ordering: OrderingMode::Unordered,
            key: KeySource::None,
            on_poison: OnPoison::Skip,
            emitted_by: "shop",
            deprecated: None,
            retired: None,
            upcast_from: || None,
            also_as: || None,
            description: "",
            rust_path: "shop::Placed",
            file: "src/lib.rs",
            line: 10,
            fields: &[],
            serialize_schema: || Value::Null,
            deserialize_schema: || Value::Null,
            round_trip: |payload| Ok(payload.to_owned()),
            asked: |_| Vec::new(),
        }
    }

    const fn taken(event_version: u32, upcast_to: Option<u32>) -> ConsumedEvent {
        ConsumedEvent { event_type: "orders.placed", event_version, topic: "orders", upcast_to }
    }

    const fn consumer(name: &'static str, events: fn() -> Vec<ConsumedEvent>) -> ConsumerEntry {
        ConsumerEntry { name, events, package: "shop", file: "src/lib.rs", line: 20 }
    }

    /// Takes version 2, also where it is made from version 1.
    static MOVED: ConsumerEntry = consumer("billing.charge", || vec![taken(2, None), taken(1, Some(2))]);
    static LATE: ConsumerEntry = consumer("audit.record", || vec![taken(1, None)]);

    fn page(consumers: &[&'static ConsumerEntry], versions: &[&EventDescriptor]) -> String {
        let mut page = String::new();
        table(&mut page, &Catalog::new(Vec::new(), consumers.to_vec()).unwrap(), versions);
        page
    }

    #[test]
    fn during_a_cutover_it_names_who_keeps_the_old_version() {
        let old = EventDescriptor { retired: Some("2031-03-31"), ..version(1) };
        let new = EventDescriptor { upcast_from: || Some(1), also_as: || Some(1), ..version(2) };

        let page = page(&[&LATE, &MOVED], &[&old, &new]);

        for row in [
            "| 2 | live; made from version 1 too | billing.charge | none | it is the newest |\n",
            "| 1 | retired on 2031-03-31; written with each version 2 | audit.record | billing.charge (version 2) \
             | not yet: version 2 is written as it too, and it is read as it is by audit.record |\n",
        ] {
            assert!(page.contains(row), "{page}");
        }
    }

    #[test]
    fn after_a_cutover_it_says_when_the_old_version_can_go() {
        let retired = EventDescriptor { retired: Some("2031-03-31"), ..version(1) };
        let end = |old: &EventDescriptor| page(&[&MOVED], &[old, &version(2)]);

        let announced = "| none | billing.charge (version 2) | after 2031-03-31; nobody in these crates reads it as it is |\n";
        assert!(end(&retired).contains(announced), "{}", end(&retired));
        assert!(
            end(&version(1))
                .contains("| 1 | live | none | billing.charge (version 2) | nobody in these crates")
        );
        assert!(end(&version(1)).contains("announce a day with `retired"));
    }

    #[test]
    fn one_version_that_is_live_needs_no_table() {
        assert_eq!(page(&[&LATE], &[&version(1)]), "");
        let retired = EventDescriptor { retired: Some("2031-03-31"), ..version(1) };
        assert!(
            page(&[], &[&retired]).contains("| 1 | retired on 2031-03-31 | none | none | after 2031-03-31")
        );
    }
}
