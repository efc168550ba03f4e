// A handler takes an event.

use outbox::consumer;

#[consumer(name = "billing.charge")]
async fn charge() -> Result<(), String> {
    Ok(())
}

#[consumer(name = "billing.refund")]
async fn refund(_context: &outbox::Context) -> Result<(), String> {
    Ok(())
}

fn main() {}
