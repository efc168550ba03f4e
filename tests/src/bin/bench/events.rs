//! Five hundred event types of three versions each: a few structs under many names.

use outbox::__private::{EventSource, submit};
use outbox::{Event, EventDescriptor, KeySource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "bench.placed", version = 1, topic = "bench")]
struct Placed {
    #[event(key)]
    order_id: u64,
    customer: Customer,
    lines: Vec<Line>,
    coupon: Option<String>,
    payment: Payment,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Customer {
    name: String,
    addresses: Vec<Address>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Address {
    street: String,
    city: String,
    country: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Line {
    sku: String,
    quantity: u32,
    price: f64,
    tags: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Payment {
    Card { last_digits: String },
    Transfer { iban: String, reference: Option<String> },
    Cash,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "bench.moved", version = 1, topic = "bench", unordered)]
struct Moved {
    id: i64,
    from: Option<Place>,
    to: Place,
    labels: BTreeMap<String, String>,
    at_millis: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Place {
    Shelf { row: u16, column: u16 },
    Truck(String),
    Unknown,
}

/// The descriptor that the derive entered for the event `type_name`, under another name.
const fn renamed(
    mut event: EventDescriptor,
    event_type: &'static str,
    event_version: u32,
) -> EventDescriptor {
    event.event_type = event_type;
    event.event_version = event_version;
    event
}

const fn source(key: KeySource) -> EventSource {
    EventSource {
        key,
        emitted_by: "bench",
        deprecated: None,
        retired: None,
        description: "",
        rust_path: module_path!(),
        file: file!(),
        line: line!(),
        fields: &[],
    }
}

const PLACED: EventDescriptor = EventDescriptor::of::<Placed>(source(KeySource::Field("order_id")));
const MOVED: EventDescriptor = EventDescriptor::of::<Moved>(source(KeySource::None));

macro_rules! hundreds {
    ($event:ident: $($hundred:literal)*) => { $(tens!($event $hundred: 0 1 2 3 4 5 6 7 8 9);)* };
}

macro_rules! tens {
    ($event:ident $hundred:literal: $($ten:literal)*) => { $(ones!($event $hundred $ten: 0 1 2 3 4 5 6 7 8 9);)* };
}

macro_rules! ones {
    ($event:ident $hundred:literal $ten:literal: $($one:literal)*) => {
        $(
            submit! { renamed($event, concat!("bench.e", $hundred, $ten, $one), 1) }
            submit! { renamed($event, concat!("bench.e", $hundred, $ten, $one), 2) }
            submit! { renamed($event, concat!("bench.e", $hundred, $ten, $one), 3) }
        )*
    };
}

hundreds!(PLACED: 0 1 2);
hundreds!(MOVED: 3 4);
