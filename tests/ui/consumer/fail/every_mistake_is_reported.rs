// All mistakes of one handler are reported together, and the function stays.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(nam = "billing.charge", retry(attempts = 0), timeout = "soon")]
fn charge(_event: OrderPlaced, _again: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn call(event: OrderPlaced, again: OrderPlaced) -> Result<(), String> {
    charge(event, again)
}

fn main() {}
