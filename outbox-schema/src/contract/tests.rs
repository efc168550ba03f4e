//! What a contract says, and what leaves its text alone.

//! What the text of a contract promises.

use super::*;
use crate::{Event, EventSource, FieldDescriptor, OnPoison};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Makes a type an event without the derive, which lives in a crate above this one.
macro_rules! event {
    ($type:ident) => {
        impl Event for $type {
            const TYPE: &'static str = "orders.placed";
            const VERSION: u32 = 3;
            const TOPIC: &'static str = "orders";
            const ORDERING: OrderingMode = OrderingMode::Unordered;
            const ON_POISON: OnPoison = OnPoison::Skip;
            fn partition_key(&self) -> Option<String> {
                None
            }
        }
    };
}

fn describe<E: Event>(fields: &'static [FieldDescriptor]) -> EventDescriptor {
    EventDescriptor::of::<E>(EventSource {
        key: KeySource::None,
        emitted_by: "shop",
        deprecated: None,
        retired: None,
        description: "",
        rust_path: std::any::type_name::<E>(),
        file: "src/events.rs",
        line: 7,
        fields,
    })
}

fn field(name: &'static str, reads: &'static [&'static str], flatten: bool, line: u32) -> FieldDescriptor {
    FieldDescriptor {
        name,
        writes: reads.first().copied(),
        reads,
        flatten,
        members: Vec::new,
        description: "",
        line,
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Placed {
    total: u32,
    #[serde(alias = "voucher")]
    coupon: Option<String>,
}
event!(Placed);

fn placed() -> Contract {
    let fields =
        vec![field("total", &["total"], false, 8), field("coupon", &["coupon", "voucher"], false, 10)];
    Contract::of(&describe::<Placed>(fields.leak())).unwrap()
}

#[test]
fn both_schemas_name_the_event_and_what_is_required_of_each_side() {
    let contract = placed();
    assert_eq!(contract.writes["$id"], "urn:outbox:orders.placed:3");
    assert_eq!(contract.writes["properties"]["eventType"]["const"], "orders.placed");
    assert_eq!(contract.writes["properties"]["eventVersion"]["const"], 3);
    assert_eq!(contract.writes["required"], json!(["eventType", "eventVersion", "coupon", "total"]));
    assert_eq!(contract.reads["required"], json!(["eventType", "eventVersion", "total"]));
    assert_eq!(contract.aliases, BTreeMap::from([("coupon".to_owned(), vec!["voucher".to_owned()])]));
}

#[test]
fn the_text_reads_back_also_with_crlf_and_a_byte_order_mark() {
    let contract = placed();
    let text = contract.to_text();
    assert_eq!(Contract::parse(&text).unwrap(), contract);
    let edited = format!("\u{feff}{}", text.trim_end().replace('\n', "\r\n"));
    assert_eq!(Contract::parse(&edited).unwrap(), contract);
    assert_eq!(Contract::parse(&edited).unwrap().to_text(), text);
}

#[test]
fn a_newer_format_and_a_broken_file_are_told_apart() {
    let newer = placed().to_text().replace("\"format\": 1", "\"format\": 2");
    assert_eq!(Contract::parse(&newer), Err(ContractError::NewerFormat { format: 2 }));
    let cut = &placed().to_text()[..40];
    assert!(matches!(Contract::parse(cut), Err(ContractError::Unreadable { .. })));
}

mod plain {
    use super::*;
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) enum Channel {
        Web,
        App,
        Store { id: u32 },
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) struct Sent {
        pub(super) channel: Channel,
        pub(super) kind: Kind,
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) enum Kind {
        Gift,
        Bill,
    }
    event!(Sent);
}

mod documented {
    use super::*;
    /// How it was ordered.
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) enum Channel {
        Web,
        /// By phone.
        App,
        /// In a shop.
        Store {
            /// Which one.
            id: u32,
        },
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) struct Sent {
        /// What for.
        pub(super) kind: Kind,
        /// Where.
        pub(super) channel: Channel,
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) enum Kind {
        Gift,
        /// An invoice.
        Bill,
    }
    event!(Sent);
}

#[test]
fn doc_comments_and_the_order_of_fields_change_no_contract() {
    let plain = Contract::of(&describe::<plain::Sent>(&[])).unwrap();
    let documented = Contract::of(&describe::<documented::Sent>(&[])).unwrap();
    assert_eq!(plain.to_text(), documented.to_text());
    assert_eq!(plain.writes["$defs"]["Kind"], json!({ "enum": ["Bill", "Gift"], "type": "string" }));
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tree {
    value: i32,
    children: Vec<Tree>,
}
event!(Tree);

#[test]
fn a_type_that_contains_itself_carries_the_members_at_the_root_only() {
    let contract = Contract::of(&describe::<Tree>(&[])).unwrap();
    assert_eq!(contract.writes["properties"]["children"]["items"]["$ref"], "#/$defs/Tree");
    assert_eq!(contract.writes["$defs"]["Tree"]["required"], json!(["children", "value"]));
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Inner {
    #[serde(rename = "eventType")]
    kind: String,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Outer {
    id: u32,
    #[serde(flatten)]
    inner: Inner,
}
event!(Outer);

#[test]
fn a_flattened_field_with_a_reserved_name_is_refused_at_its_line() {
    let fields = vec![field("id", &["id"], false, 8), field("inner", &[], true, 9)].leak();
    let error = Contract::of(&describe::<Outer>(fields)).unwrap_err();
    assert!(matches!(error, ContractError::Reserved { member: "eventType", line: 9, .. }), "{error}");
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "eventVersion")]
enum Tagged {
    One { id: u32 },
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Holder {
    #[serde(flatten)]
    tagged: Tagged,
}
event!(Holder);

#[test]
fn a_flattened_enum_with_a_reserved_tag_is_refused() {
    let error = Contract::of(&describe::<Holder>(&[])).unwrap_err();
    assert!(matches!(error, ContractError::Reserved { member: "eventVersion", line: 7, .. }), "{error}");
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Wrapped(String);
event!(Wrapped);

#[test]
fn an_event_that_is_no_object_is_refused() {
    let error = Contract::of(&describe::<Wrapped>(&[])).unwrap_err();
    assert!(matches!(error, ContractError::NotAnObject { .. }), "{error}");
}

#[test]
fn a_day_of_retirement_is_kept_and_must_be_in_the_calendar() {
    let mut event = describe::<Placed>(&[]);
    assert!(!Contract::of(&event).unwrap().to_text().contains("retired"));
    event.retired = Some("2028-02-29");
    let contract = Contract::of(&event).unwrap();
    assert_eq!(Contract::parse(&contract.to_text()), Ok(contract.clone()));
    for day in ["2027-02-29", "2026-13-01", "2026-1-1", "soon", "0000-01-01"] {
        let spoiled = contract.to_text().replace("2028-02-29", day);
        assert!(Contract::parse(&spoiled).unwrap_err().to_string().contains("which is no date"), "{day}");
    }
}
