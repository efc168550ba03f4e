//! A deprecated handler of a deprecated event, where warnings are denied.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unused_qualifications, unreachable_pub)]

use outbox::{Context, Event, consumer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod old {
    #![allow(deprecated)]

    use super::{Deserialize, Event, JsonSchema, Serialize};

    #[deprecated]
    #[derive(Event, Serialize, Deserialize, JsonSchema)]
    #[event(type = "orders.booked", version = 1, topic = "orders", unordered)]
    pub(crate) struct OrderBooked {
        pub(crate) order_id: u64,
    }
}

#[deprecated]
#[consumer(name = "orders.count")]
async fn count(event: outbox_ui_tests::OrderPlaced, context: &Context) -> Result<(), String> {
    let _: &Context = context;
    let _ = event.order_id;
    Ok(())
}

#[allow(deprecated)]
#[consumer(name = "orders.count-old")]
async fn count_old(event: old::OrderBooked) -> Result<(), String> {
    let _ = event.order_id;
    Ok(())
}

fn main() {}
