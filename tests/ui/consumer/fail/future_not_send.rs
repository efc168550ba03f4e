// A handler may move between threads.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;
use std::rc::Rc;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced) -> Result<(), String> {
    let count = Rc::new(event.order_id);
    std::future::ready(()).await;
    drop(count);
    Ok(())
}

fn main() {}
