//! What `#[derive(Event)]` tells the catalog; what it refuses is tested in `tests/ui`.

use outbox::{
    Catalog, CatalogError, ConsumerEntry, Event, EventDescriptor, EventSet, KeySource, OnPoison, OrderingMode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The line of this file that the next declaration starts after.
const LINE_BEFORE_SEAT_TAKEN: u32 = line!();

/// Somebody took a seat.
///
/// It is theirs until they leave.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "macros.seat-taken", version = 2, topic = "macros", on_poison = "block", emitted_by = "hall")]
#[event(deprecated = "use `macros.seat-booked`")]
#[serde(rename_all = "camelCase")]
struct SeatTaken {
    /// The seat's number.
    #[event(key)]
    seat_number: u32,
    #[serde(alias = "who")]
    guest: String,
    /// What else was said.
    #[serde(flatten)]
    rest: std::collections::BTreeMap<String, u64>,
}

#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "macros.seat-taken", version = 1, topic = "macros", unordered)]
struct SeatTakenV1 {}

#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "macros.hall-closed", version = 1, topic = "macros", key_with = HallClosed::place)]
struct HallClosed {
    city: String,
}

impl HallClosed {
    fn place(&self) -> String {
        self.city.to_lowercase()
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Origin {
    country: String,
}

/// A type without a schema of its own.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    city: String,
}

#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "macros.tour-planned", version = 1, topic = "tours", unordered)]
struct TourPlanned {
    #[serde(flatten)]
    origin: Option<Origin>,
    #[serde(flatten)]
    #[schemars(with = "Origin")]
    place: Place,
    #[serde(flatten)]
    stops: std::collections::BTreeMap<String, Self>,
}

fn descriptor<E: Event>() -> &'static EventDescriptor {
    let catalog = Catalog::collect().unwrap();
    let is_it = |event: &&&EventDescriptor| (event.event_type, event.event_version) == (E::TYPE, E::VERSION);
    catalog.events().iter().find(is_it).unwrap()
}

#[test]
fn a_derived_event_stands_in_the_catalog_with_all_it_declares() {
    let event = descriptor::<SeatTaken>();

    assert_eq!((event.topic, event.ordering), ("macros", OrderingMode::Keyed));
    assert_eq!(event.key, KeySource::Field("seatNumber"));
    assert_eq!((event.on_poison, event.emitted_by), (OnPoison::Block, "hall"));
    assert_eq!(event.deprecated, Some("use `macros.seat-booked`"));
    assert_eq!(event.description, "Somebody took a seat.\n\nIt is theirs until they leave.");
    assert_eq!(event.rust_path, concat!(module_path!(), "::SeatTaken"));
    assert_eq!(event.file, file!());
}

#[test]
fn what_an_event_does_not_say_has_a_default() {
    let event = descriptor::<SeatTakenV1>();

    assert_eq!(
        (event.key, event.ordering, event.on_poison),
        (KeySource::None, OrderingMode::Unordered, OnPoison::Skip)
    );
    assert_eq!((event.emitted_by, event.deprecated, event.description), (env!("CARGO_PKG_NAME"), None, ""));
    let closed = descriptor::<HallClosed>();
    assert_eq!((closed.key, closed.on_poison), (KeySource::Function("HallClosed::place"), OnPoison::Park));
}

#[test]
fn a_flattened_field_knows_its_names_where_its_type_has_a_schema() {
    let members: Vec<Vec<String>> =
        descriptor::<TourPlanned>().fields.iter().map(|field| (field.members)()).collect();

    assert_eq!(members, [vec!["country".to_owned()], vec![], vec![]]);
}

#[test]
fn an_event_and_its_fields_know_their_lines() {
    let event = descriptor::<SeatTaken>();

    let lines: Vec<u32> = event.fields.iter().map(|field| field.line - LINE_BEFORE_SEAT_TAKEN).collect();
    assert_eq!((event.line - LINE_BEFORE_SEAT_TAKEN, lines), (9, vec![12, 14, 17]));
}

#[test]
fn a_field_knows_its_names_in_the_json() {
    let names: Vec<_> =
        descriptor::<SeatTaken>().fields.iter().map(|f| (f.name, f.writes, f.reads, f.flatten)).collect();

    assert_eq!(
        names,
        [
            ("seat_number", Some("seatNumber"), &["seatNumber"][..], false),
            ("guest", Some("guest"), &["guest", "who"], false),
            ("rest", None, &[], true),
        ]
    );
}

#[test]
fn the_partition_key_is_the_text_of_the_field_or_of_the_function() {
    let taken = SeatTaken { seat_number: 7, guest: "Ada".into(), rest: [("rows".into(), 3)].into() };

    assert_eq!(taken.partition_key().as_deref(), Some("7"));
    assert_eq!(HallClosed { city: "Bern".into() }.partition_key().as_deref(), Some("bern"));
    assert_eq!(SeatTakenV1 {}.partition_key(), None);
}

#[test]
fn the_catalog_can_decode_and_describe_an_event_without_its_type() {
    let event = descriptor::<SeatTaken>();

    let written = (event.round_trip)(r#"{"who":"Ada","seatNumber":7,"rows":3}"#).unwrap();
    let refused = (event.round_trip)(r#"{"who":"Ada"}"#).unwrap_err();

    assert_eq!(written, r#"{"seatNumber":7,"guest":"Ada","rows":3}"#);
    assert!(refused.to_string().contains("missing field `seatNumber`"), "{refused}");
    assert_eq!((event.serialize_schema)()["properties"]["seatNumber"]["type"], "integer");
    assert_eq!((event.deserialize_schema)()["properties"]["guest"]["type"], "string");
}

#[test]
fn the_catalog_is_sorted_by_type_and_version() {
    let catalog = Catalog::collect().unwrap();

    let ours = catalog.events().iter().filter(|event| event.topic == "macros");
    let order: Vec<_> = ours.map(|event| (event.event_type, event.event_version)).collect();
    assert_eq!(order, [("macros.hall-closed", 1), ("macros.seat-taken", 1), ("macros.seat-taken", 2)]);
}

#[test]
fn two_events_of_one_type_and_version_are_an_error_that_names_both_places() {
    let event = descriptor::<SeatTaken>();

    let error = Catalog::new(vec![event, event], vec![]).unwrap_err();

    let CatalogError::Duplicates(lines) = &error else { panic!("{error}") };
    let place = format!("{}:{}", event.file, event.line);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].matches(&place).count(), 2, "{error}");
    assert!(lines[0].contains("`macros.seat-taken` version 2"), "{error}");
}

#[test]
fn two_consumers_of_one_name_are_an_error_that_names_both_places() {
    let entry = |line| ConsumerEntry {
        name: "hall.count",
        events: SeatTaken::events,
        package: "",
        file: "hall.rs",
        line,
    };
    let (first, second) = (Box::leak(Box::new(entry(3))), Box::leak(Box::new(entry(9))));

    let error = Catalog::new(vec![], vec![second, first]).unwrap_err();

    let CatalogError::Duplicates(lines) = &error else { panic!("{error}") };
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].contains("`hall.count`") && lines[0].contains("hall.rs:3") && lines[0].contains("hall.rs:9")
    );
}

#[test]
fn a_set_that_holds_one_event_twice_is_an_error_that_names_the_consumer() {
    #[derive(EventSet)]
    #[expect(dead_code, reason = "only the events of the set are asked for")]
    enum Twice {
        Taken(SeatTaken),
        Again(Within),
    }

    #[derive(EventSet)]
    #[expect(dead_code, reason = "only the events of the set are asked for")]
    enum Within {
        Taken(SeatTaken),
    }

    let entry =
        ConsumerEntry { name: "hall.count", events: Twice::events, package: "", file: "hall.rs", line: 3 };

    let error = Catalog::new(vec![], vec![Box::leak(Box::new(entry))]).unwrap_err();

    assert!(
        error.to_string().contains("`hall.count` at hall.rs:3 takes event `macros.seat-taken` version 2"),
        "{error}"
    );
}

#[test]
fn an_empty_catalog_is_an_error_that_says_what_to_write() {
    let error = Catalog::new(vec![], vec![]).unwrap().not_empty().unwrap_err();

    assert_eq!(error, CatalogError::Empty);
    assert!(error.to_string().contains("use my_events as _;"), "{error}");
}
