//! The time from the return of a commit to the call of publish, on an idle relay, against LISTEN and NOTIFY by hand.

use super::{Row, Wanted, drain::NullBroker, enqueue::outbox_on};
use crate::servers::Postgres;
use crate::world::noted;
use outbox::RelayConfig;
use sqlx::postgres::PgListener;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

const EVENTS_PER_ROUND: i64 = 20;
/// Long enough for the relay to be idle again.
const IDLE: Duration = Duration::from_millis(20);

/// Each value is the median of a round.
pub(super) async fn row(server: &Postgres, rounds: usize) -> Row {
    let outbox = outbox_on(server).await;
    let pool = outbox.store().pool().clone();
    let (sender, mut count) = watch::channel(0);
    let relay = outbox.runner().relay(RelayConfig::default(), Arc::new(NullBroker(sender)));
    let runner = relay.start().await.unwrap();
    let mut listener = PgListener::connect_with(&pool).await.unwrap();
    listener.listen("raw").await.unwrap();
    let (mut raw, mut ours, mut sent) = (Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        let (mut by_hand, mut with_relay) = (Vec::new(), Vec::new());
        for n in 0..EVENTS_PER_ROUND {
            tokio::time::sleep(IDLE).await;
            let mut tx = outbox.begin().await.unwrap();
            outbox.enqueue(&mut tx, &noted("key", n)).await.unwrap();
            tx.commit().await.unwrap();
            let committed = Instant::now();
            sent += 1;
            count.wait_for(|count| *count >= sent).await.unwrap();
            with_relay.push(committed.elapsed().as_secs_f64() * 1e3);

            tokio::time::sleep(IDLE).await;
            let mut tx = pool.begin().await.unwrap();
            sqlx::query("SELECT pg_notify('raw', '')").execute(&mut *tx).await.unwrap();
            tx.commit().await.unwrap();
            let committed = Instant::now();
            listener.recv().await.unwrap();
            let read =
                sqlx::query("SELECT * FROM outbox_log WHERE seq > $1 ORDER BY seq LIMIT 1000").bind(i64::MAX);
            read.fetch_all(&pool).await.unwrap();
            by_hand.push(committed.elapsed().as_secs_f64() * 1e3);
        }
        raw.push(super::median(&by_hand));
        ours.push(super::median(&with_relay));
    }
    runner.stop().await.unwrap();
    Row { name: "wake, commit to publish".into(), unit: "ms (p50)", raw, ours, wanted: Wanted::AtMost(3.0) }
}
