//! Somebody who has parts of the log replayed, to every stage that reads it, beside live traffic.

use super::arena::Arena;
use super::mirror::Mirror;
use super::store::TortureStore;
use super::{BrokerKind, Plant, RELAY};
use outbox::held::Stage;
use outbox::range::RangeState;
use outbox::{Range, StoreError, Terms};
use rand::RngExt;
use rand::rngs::StdRng;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;

/// The topic to which some are replayed instead of their own.
pub(super) const AGAIN: &str = "torture-again";

/// The most replays of one look: more are never asked for.
const LOOK_MAX: u32 = 10_000;

/// How far back a range reaches, at most: a little beyond retention.
const BACK_MAX: f64 = 15.0;

/// Asks now and then, and takes some of it back.
pub(super) async fn replay<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    let handles_again = arena.options.plant == Some(Plant::Again);
    let mut stages = vec![match arena.options.broker {
        BrokerKind::Local => Stage::consumer(S::CONSUMER),
        BrokerKind::Nats | BrokerKind::Redis | BrokerKind::RabbitMq | BrokerKind::Kafka => {
            Stage::relay(RELAY)
        }
    }];
    if !handles_again {
        stages.push(Stage::relay(Mirror::RELAY));
    }
    let mut pause = Duration::from_millis(chance.random_range(500..1_500));
    while arena.rest(pause).await {
        pause = Duration::from_millis(chance.random_range(1_000..8_000));
        let mut range = Range::to(stages[chance.random_range(0..stages.len())].clone());
        range.again = handles_again;
        range.since = Some(ago(chance.random_range(0.0..BACK_MAX)));
        range.until = chance.random_ratio(1, 3).then(|| ago(chance.random_range(0.0..BACK_MAX / 3.0)));
        range.key = chance.random_ratio(1, 4).then(|| format!("good-{}", chance.random_range(0..8)));
        if handles_again {
            (range.since, range.until, range.key) = (None, None, None);
            pause = Duration::from_secs(1);
        }
        let is_elsewhere = range.stage == Stage::relay(RELAY);
        range.to_topic = (is_elsewhere && chance.random_ratio(1, 4)).then(|| AGAIN.to_owned());
        let mut terms = Terms::new("torture", "a reader lost them");
        if chance.random_ratio(1, 2) {
            terms = terms.per_second(NonZeroU32::new(chance.random_range(50..500)).expect("50 or more"));
        }
        // The database may be down.
        let Ok((Some(asked), plan)) = arena.outbox.replay_range(&range, &terms).await else { continue };
        arena.tell("range replayed", &format!("{} {range:?}", plan.open));
        arena.figures.add("events of ranges replayed", plan.open);
        if chance.random_ratio(1, 5) {
            arena.rest(Duration::from_millis(chance.random_range(0..1_000))).await;
            let _ = arena.outbox.cancel_range(asked).await;
        }
    }
}

fn ago(secs: f64) -> OffsetDateTime {
    OffsetDateTime::now_utc() - Duration::from_secs_f64(secs)
}

/// How many events of replays are still to be taken up.
pub(super) async fn open<S: TortureStore>(arena: &Arena<S>) -> Result<u64, StoreError> {
    let replays = arena.outbox.range_replays(LOOK_MAX).await?;
    let running = replays.iter().filter(|replay| replay.state == RangeState::Running);
    // One that has taken all is still running until its leader looks again.
    Ok(running.map(|replay| 1 + replay.matched.saturating_sub(replay.taken + replay.left_out)).sum())
}
