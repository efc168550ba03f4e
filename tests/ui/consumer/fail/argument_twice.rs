// A handler takes each type once.

use outbox::{Context, consumer};
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(_event: OrderPlaced, _first: &Context, _second: &Context) -> Result<(), String> {
    Ok(())
}

fn main() {}
