// An error can be recorded.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

struct Refused;

#[consumer(name = "billing.charge")]
async fn charge(_event: OrderPlaced) -> Result<(), Refused> {
    Err(Refused)
}

fn main() {}
