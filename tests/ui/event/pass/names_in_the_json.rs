// The descriptor knows the names that serde writes and reads.

#![allow(non_snake_case)]

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
#[serde(rename_all(serialize = "camelCase", deserialize = "SCREAMING-KEBAB-CASE"), tag = "kind")]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
    #[serde(rename = "total", alias = "sum", alias = "amount")]
    total_cents: u64,
    #[serde(rename(serialize = "written", deserialize = "read"))]
    both: u64,
    #[serde(skip)]
    eventType: u64,
    #[serde(skip_serializing, default)]
    only_read: u64,
    #[serde(skip_deserializing)]
    only_written: u64,
    #[serde(flatten)]
    rest: std::collections::BTreeMap<String, String>,
}

fn main() {
    let catalog = outbox::Catalog::collect().unwrap();
    let names: Vec<_> =
        catalog.events()[0].fields.iter().map(|f| (f.name, f.writes, f.reads, f.flatten)).collect();
    assert_eq!(
        names,
        [
            ("order_id", Some("orderId"), &["ORDER-ID"][..], false),
            ("total_cents", Some("total"), &["total", "sum", "amount"], false),
            ("both", Some("written"), &["read"], false),
            ("eventType", None, &[], false),
            ("only_read", None, &["ONLY-READ"], false),
            ("only_written", Some("onlyWritten"), &[], false),
            ("rest", None, &[], true),
        ]
    );
}
