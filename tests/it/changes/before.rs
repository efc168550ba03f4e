//! The events of the last release.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
pub struct RequiredFieldAdded {
    #[event(key)]
    pub order_id: String,
    pub total_cents: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.cancelled", version = 1, topic = "orders")]
pub struct RequiredFieldRemoved {
    #[event(key)]
    pub order_id: String,
    pub reason: String,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.discounted", version = 1, topic = "orders")]
pub struct OptionalFieldRemoved {
    #[event(key)]
    pub order_id: String,
    pub coupon: Option<String>,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.priced", version = 1, topic = "orders")]
pub struct FieldRenamed {
    #[event(key)]
    pub order_id: String,
    pub total_cents: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.paid", version = 1, topic = "orders")]
pub struct TypeChanged {
    #[event(key)]
    pub order_id: String,
    #[serde(rename = "inFull")]
    pub in_full: bool,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "customers.registered", version = 1, topic = "customers")]
pub struct OptionBecameRequired {
    #[event(key)]
    pub customer_id: String,
    pub phone: Option<String>,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "customers.renamed", version = 1, topic = "customers")]
pub struct RequiredBecameOption {
    #[event(key)]
    pub customer_id: String,
    pub name: String,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "stock.counted", version = 1, topic = "stock")]
pub struct IntegerNarrowed {
    #[event(key)]
    pub sku: String,
    pub pieces: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "stock.moved", version = 1, topic = "stock")]
pub struct IntegerWidened {
    #[event(key)]
    pub sku: String,
    pub pieces: u16,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "stock.priced", version = 1, topic = "stock")]
pub struct NumberBecameString {
    #[event(key)]
    pub sku: String,
    pub cents: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Carrier {
    Post,
    Courier,
    Pigeon,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "parcels.sent", version = 1, topic = "parcels")]
pub struct VariantRemoved {
    #[event(key)]
    pub parcel_id: String,
    pub carrier: Carrier,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub enum Condition {
    Fine,
    Damaged,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "parcels.received", version = 1, topic = "parcels")]
pub struct VariantAdded {
    #[event(key)]
    pub parcel_id: String,
    pub condition: Condition,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub enum Refund {
    Voucher { code: String },
    Transfer { iban: String },
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "parcels.returned", version = 1, topic = "parcels")]
pub struct RepresentationChanged {
    #[event(key)]
    pub parcel_id: String,
    pub refund: Refund,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Address {
    pub street: String,
    pub zip: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Recipient {
    pub name: String,
    pub address: Address,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "parcels.addressed", version = 1, topic = "parcels")]
pub struct NestedFieldChanged {
    #[event(key)]
    pub parcel_id: String,
    pub recipient: Recipient,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "carts.filled", version = 1, topic = "carts")]
pub struct ListItemChanged {
    #[event(key)]
    pub cart_id: String,
    pub articles: Vec<u32>,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "carts.weighed", version = 1, topic = "carts")]
pub struct MapValueChanged {
    #[event(key)]
    pub cart_id: String,
    pub grams: BTreeMap<String, u32>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    pub country: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    pub changed_by: u32,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "carts.audited", version = 1, topic = "carts")]
pub struct FlattenedFieldChanged {
    #[event(key)]
    pub cart_id: String,
    #[serde(flatten)]
    pub origin: Origin,
    #[serde(flatten)]
    pub audit: Audit,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Line {
    pub sku: String,
    pub note: Option<String>,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "carts.ordered", version = 1, topic = "carts")]
pub struct UnknownFieldsDenied {
    #[event(key)]
    pub cart_id: String,
    pub lines: Vec<Line>,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "payments.taken", version = 1, topic = "payments")]
pub struct FormatDropped {
    #[event(key)]
    pub payment_id: String,
    pub device: uuid::Uuid,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Cents(pub u64);

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "payments.refunded", version = 1, topic = "payments")]
pub struct NewtypeBecameStruct {
    #[event(key)]
    pub payment_id: String,
    pub amount: Cents,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "drivers.located", version = 1, topic = "drivers")]
pub struct TupleLengthened {
    #[event(key)]
    pub driver_id: String,
    pub position: (f64, f64),
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "drivers.hired", version = 1, topic = "drivers")]
pub struct AliasRemoved {
    #[event(key)]
    pub driver_id: String,
    #[serde(alias = "licence")]
    pub license: String,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "drivers.rated", version = 1, topic = "drivers")]
pub struct LimitTightened {
    #[event(key)]
    pub driver_id: String,
    pub stars: u8,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "drivers.paused", version = 1, topic = "drivers")]
pub struct DefaultRemoved {
    #[event(key)]
    pub driver_id: String,
    #[serde(default)]
    pub minutes: u32,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "tours.planned", version = 1, topic = "tours")]
pub struct KeyChanged {
    #[event(key)]
    pub tour_id: String,
    pub region: String,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "tours.started", version = 1, topic = "tours")]
pub struct TopicChanged {
    #[event(key)]
    pub tour_id: String,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "tours.ended", version = 1, topic = "tours")]
pub struct OrderingChanged {
    #[event(key)]
    pub tour_id: String,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "tours.lost", version = 1, topic = "tours")]
pub struct VersionRemoved {
    #[event(key)]
    pub tour_id: String,
}
