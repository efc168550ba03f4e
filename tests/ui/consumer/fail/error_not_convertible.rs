// An error can be recorded.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

struct Refused;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced) -> Result<(), Refused> {
    Err(Refused)
}

fn main() {}
