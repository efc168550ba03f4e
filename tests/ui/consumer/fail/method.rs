// A handler is no method.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

struct Billing;

impl Billing {
    #[consumer(name = "billing.charge")]
    async fn charge(&self, _event: OrderPlaced) -> Result<(), String> {
        Ok(())
    }
}

fn main() {}
