// A handler that needs nothing but its event; it stays an ordinary function.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(
    name = "billing.charge",
    retry(attempts = 3, base = "250ms", max = "1h"),
    timeout = "5s",
    concurrency = 1
)]
pub async fn charge(_: OrderPlaced) -> Result<(), std::num::TryFromIntError> {
    Ok(())
}

fn main() {
    let _ = charge(OrderPlaced { order_id: 7 });
}
