//! Contracts of derived events, seen from a crate that uses the facade.

use outbox::compat::{Formats, Verdict, compare};
use outbox::{Catalog, Contract, Event, EventDescriptor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A parcel left the warehouse.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "test.contract.parcel", version = 2, topic = "test-parcels")]
struct ParcelSent {
    /// The number on the label.
    #[event(key)]
    parcel_id: String,
    #[serde(default, alias = "grams")]
    weight: Option<u32>,
    #[serde(flatten)]
    route: Route,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Route {
    from: String,
    via: Vec<Stop>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Stop {
    Hub,
    /// A shop that keeps parcels.
    Shop {
        name: String,
    },
}

/// A way to pay, as one field of the event itself.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "test.contract.payment", version = 1, topic = "test-payments", unordered)]
struct Paid {
    #[serde(flatten)]
    means: Means,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Means {
    Card { last4: String },
    Transfer(String),
}

/// Two events whose types have the same names and other shapes.
macro_rules! same_names {
    ($module:ident, $event_type:literal, $field:ident: $type:ty) => {
        mod $module {
            use super::*;

            #[derive(Event, Serialize, Deserialize, JsonSchema)]
            #[event(type = $event_type, version = 1, topic = "test-names", unordered)]
            pub(super) struct Listed {
                pub(super) pages: Page<Page<Page<Address>>>,
            }

            #[derive(Serialize, Deserialize, JsonSchema)]
            pub(super) struct Page<T> {
                pub(super) $field: Vec<T>,
            }

            #[derive(Serialize, Deserialize, JsonSchema)]
            pub(super) struct Address {
                pub(super) zip: $type,
            }
        }
    };
}

same_names!(north, "test.contract.north", items: String);
same_names!(south, "test.contract.south", rows: u32);

fn described(event_type: &str) -> &'static EventDescriptor {
    let catalog = Catalog::collect().unwrap();
    catalog.events().iter().find(|event| event.event_type == event_type).copied().unwrap()
}

#[test]
fn a_derived_event_has_a_contract_with_its_declaration_and_both_schemas() {
    let contract = Contract::of(described("test.contract.parcel")).unwrap();
    let file: Value = serde_json::from_str(&contract.to_text()).unwrap();
    assert_eq!(contract.file_name(), "test.contract.parcel/v2.json");
    assert_eq!(file["topic"], "test-parcels");
    assert_eq!(file["key"], "field parcel_id");
    assert_eq!(file["ordering"], "keyed");
    assert_eq!(file["aliases"], json!({ "weight": ["grams"] }));
    assert_eq!(file["writes"]["$id"], outbox::dataschema("test.contract.parcel", 2));
    let always = ["eventType", "eventVersion", "from", "parcel_id", "via", "weight"];
    assert_eq!(file["writes"]["required"], json!(always));
    assert_eq!(file["reads"]["required"], json!(always[..5]));
    assert!(!contract.to_text().contains("warehouse"), "doc comments are no part of a contract");
}

#[test]
fn a_payload_as_it_travels_fits_the_contract_and_one_of_another_version_does_not() {
    let contract = Contract::of(described("test.contract.parcel")).unwrap();
    let route = Route { from: "north".to_owned(), via: vec![Stop::Hub, Stop::Shop { name: "a".to_owned() }] };
    let event = ParcelSent { parcel_id: "p1".to_owned(), weight: None, route };
    let mut payload = serde_json::to_value(&event).unwrap();
    payload["eventType"] = json!("test.contract.parcel");
    payload["eventVersion"] = json!(2);
    let fits = |payload: &Value| compare(&json!({ "const": payload }), &contract.writes, Formats::Asserted);
    assert_eq!(fits(&payload), Verdict::Holds);
    payload["eventVersion"] = json!(3);
    assert!(matches!(fits(&payload), Verdict::Breaks(_)));
}

#[test]
fn a_flattened_enum_leaves_room_for_the_members_of_the_envelope() {
    let contract = Contract::of(described("test.contract.payment")).unwrap();
    for means in [Means::Card { last4: "4242".to_owned() }, Means::Transfer("DE00".to_owned())] {
        let mut payload = serde_json::to_value(Paid { means }).unwrap();
        payload["eventType"] = json!("test.contract.payment");
        payload["eventVersion"] = json!(1);
        for side in [&contract.writes, &contract.reads] {
            assert_eq!(
                compare(&json!({ "const": payload }), side, Formats::Asserted),
                Verdict::Holds,
                "{payload}"
            );
        }
    }
}

#[test]
fn types_of_one_name_in_two_events_do_not_mix() {
    use {north as n, south as s};
    let address = n::Address { zip: "0150".to_owned() };
    let pages = n::Page { items: vec![n::Page { items: vec![n::Page { items: vec![address] }] }] };
    let north = serde_json::to_value(n::Listed { pages }).unwrap();
    let pages = s::Page { rows: vec![s::Page { rows: vec![s::Page { rows: vec![s::Address { zip: 7 }] }] }] };
    let south = serde_json::to_value(s::Listed { pages }).unwrap();
    for (event_type, own, other) in
        [("test.contract.north", &north, &south), ("test.contract.south", &south, &north)]
    {
        let contract = Contract::of(described(event_type)).unwrap();
        let fits = |payload: &Value| {
            let mut payload = payload.clone();
            payload["eventType"] = json!(event_type);
            payload["eventVersion"] = json!(1);
            compare(&json!({ "const": payload }), &contract.writes, Formats::Asserted)
        };
        assert_eq!(fits(own), Verdict::Holds, "{event_type}");
        assert!(matches!(fits(other), Verdict::Breaks(_)), "{event_type}");
    }
}
