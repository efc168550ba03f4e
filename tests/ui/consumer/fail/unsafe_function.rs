// The runtime cannot promise what an unsafe function asks for.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async unsafe fn charge(_event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
