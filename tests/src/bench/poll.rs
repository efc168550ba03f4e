//! A look at a log with nothing new in it, against the bare query.

use super::{Row, Wanted, enqueue::outbox_on};
use crate::servers::Postgres;
use crate::world::noted;
use outbox::cursor::{Filter, LogCursor, Start};
use outbox::held::{Share, Stage};
use outbox::lease::{Fence, LeaseName, Owner};
use outbox::{Store, draft};
use std::time::{Duration, Instant};

const POLLS: u32 = 500;

/// Microseconds a poll.
pub(super) async fn row(server: &Postgres, rounds: usize) -> Row {
    let outbox = outbox_on(server).await;
    let store = outbox.store();
    let notes: Vec<_> = (0..10_000).map(|n| noted("key", n)).collect();
    let mut tx = outbox.begin().await.unwrap();
    outbox.enqueue_batch(&mut tx, notes.iter().map(draft)).await.unwrap();
    tx.commit().await.unwrap();
    let (stage, share, owner) = (Stage::relay("bench"), Share::default(), Owner::new());
    let lease = LeaseName::of(&stage, &share);
    let epoch = store.acquire(&lease, owner, Duration::from_secs(3600)).await.unwrap().unwrap();
    let fence = Fence { stage, share, owner, epoch };
    let mut log = store.open_log(&fence, Filter::default(), Start::Latest).await.unwrap();
    let mut connection = store.pool().acquire().await.unwrap();
    let (mut raw, mut ours) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let begun = Instant::now();
        for _ in 0..POLLS {
            let query = sqlx::query("SELECT * FROM outbox_log WHERE seq > $1 ORDER BY seq LIMIT 1000");
            query.bind(i64::MAX - 1).fetch_all(&mut *connection).await.unwrap();
        }
        let by_hand = begun.elapsed();
        let begun = Instant::now();
        for _ in 0..POLLS {
            assert!(log.read(1_000).await.unwrap().events.is_empty());
        }
        if round > 0 {
            raw.push(by_hand.as_secs_f64() * 1e6 / f64::from(POLLS));
            ours.push(begun.elapsed().as_secs_f64() * 1e6 / f64::from(POLLS));
        }
    }
    Row { name: "empty poll".into(), unit: "us", raw, ours, wanted: Wanted::Nothing }
}
