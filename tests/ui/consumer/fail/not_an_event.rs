// An event is derived.

use outbox::consumer;

struct Placed {
    order_id: u64,
}

#[consumer(name = "billing.charge")]
async fn charge(_event: Placed) -> Result<(), String> {
    Ok(())
}

fn main() {}
