// An event without a partition key.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use outbox::{OnPoison, OrderingMode};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "visits.counted", version = 1, topic = "visits", unordered)]
struct VisitsCounted {}

fn main() {
    assert_eq!(VisitsCounted {}.partition_key(), None);
    assert_eq!(
        (VisitsCounted::ORDERING, VisitsCounted::ON_POISON),
        (OrderingMode::Unordered, OnPoison::Skip)
    );
}
