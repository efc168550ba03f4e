// A handler takes the context once, by whatever name.

use outbox::{Context, consumer};
use outbox_ui_tests::OrderPlaced;

type Delivery = Context;

#[consumer(name = "billing.charge")]
async fn charge(_event: OrderPlaced, _context: &Context, _delivery: &Delivery) -> Result<(), String> {
    Ok(())
}

fn main() {}
