// An event is derived.
#![allow(unused)]

use outbox::consumer;

struct Placed {
    order_id: u64,
}

#[consumer(name = "billing.charge")]
async fn charge(event: Placed) -> Result<(), String> {
    Ok(())
}

fn main() {}
