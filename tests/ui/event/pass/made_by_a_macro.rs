// Events made by `macro_rules`.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! events {
    ($($name:ident, $key:ty, $event_type:expr;)*) => {
        $(
            #[derive(Event, Serialize, Deserialize, JsonSchema)]
            #[event(type = $event_type, version = 1, topic = "orders")]
            struct $name {
                #[event(key)]
                id: $key,
                body: Vec<$key>,
            }
        )*
    };
}

events! {
    OrderPlaced, u64, "orders.placed";
    OrderPaid, String, "orders.paid";
}

macro_rules! unordered {
    ($(#[$meta:meta])* struct $name:ident { $($(#[$field_meta:meta])* $field:ident : $ty:ty,)* }) => {
        #[derive(Event, Serialize, Deserialize, JsonSchema)]
        #[event(version = 1, topic = "orders", unordered)]
        $(#[$meta])*
        struct $name { $($(#[$field_meta])* $field: $ty,)* }
    };
}

unordered! {
    #[event(type = "orders.counted")]
    struct OrdersCounted {
        /// How many there are.
        count: Option<u32>,
    }
}

fn main() {
    assert_eq!(OrderPlaced { id: 7, body: vec![] }.partition_key().as_deref(), Some("7"));
    assert_eq!(OrderPaid { id: "7".into(), body: vec![] }.partition_key().as_deref(), Some("7"));
    assert_eq!(OrdersCounted { count: None }.partition_key(), None);
    assert_eq!(outbox::Catalog::collect().unwrap().events().len(), 3);
}
