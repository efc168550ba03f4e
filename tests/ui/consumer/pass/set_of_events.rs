// A handler of several events, also by a set within a set.

use outbox::{EncodedEvent, EventSet, consumer};
use outbox_ui_tests::{OrderPaid, OrderPlaced};

#[derive(Debug, EventSet)]
enum Money {
    Paid(OrderPaid),
}

#[derive(Debug, EventSet)]
enum OrderChanged {
    Placed(OrderPlaced),
    Money(Money),
}

#[consumer(name = "orders.log")]
async fn log(event: OrderChanged) -> Result<(), std::fmt::Error> {
    match event {
        OrderChanged::Placed(placed) => drop(placed),
        OrderChanged::Money(Money::Paid(paid)) => drop(paid),
    }
    Ok(())
}

fn decode(event_type: &str, event_version: u32, payload: &str) -> Option<String> {
    let event = EncodedEvent { event_type, event_version, payload };
    let decoded = OrderChanged::decode(&event)?;
    Some(decoded.map_or_else(|error| error.to_string(), |set| format!("{set:?}")))
}

fn main() {
    let names: Vec<_> =
        OrderChanged::events().iter().map(|event| (event.event_type, event.event_version)).collect();
    assert_eq!(names, [("orders.placed", 1), ("orders.paid", 2)]);

    let paid = decode("orders.paid", 2, r#"{"order_id":7}"#);
    assert_eq!(paid.as_deref(), Some("Money(Paid(OrderPaid { order_id: 7 }))"));
    assert_eq!(decode("orders.paid", 1, r#"{"order_id":7}"#), None);
    let refused = decode("orders.placed", 1, r#"{"order_id":"7"}"#).unwrap();
    assert!(refused.starts_with("the payload is no event `orders.placed` version 1"), "{refused}");
}
