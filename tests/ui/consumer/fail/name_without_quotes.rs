// A name is a text.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = billing)]
async fn charge(_event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
