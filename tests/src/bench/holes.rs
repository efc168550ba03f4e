//! The holes of a relay under load of which a fifth is rolled back, beside a write transaction that has nothing to do with
//! it and stays open.
//!
//! Takes as long as it is told: `holes --minutes 10`, the default.

use super::drain::NullBroker;
use super::{Options, Row, Wanted, enqueue::outbox_on};
use crate::servers::Postgres;
use crate::world::noted;
use outbox::postgres::PostgresStore;
use outbox::{Outbox, RelayConfig};
use sqlx::{Connection, PgConnection};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinSet;

const MINUTES: f64 = 10.0;
const PRODUCERS: i64 = 4;
const SAMPLE: Duration = Duration::from_secs(1);

const HOLES: &str = "
    SELECT (SELECT count(*) FROM outbox_hole)
         + coalesce((SELECT cardinality(holes) / 2 FROM outbox_progress ORDER BY id DESC LIMIT 1), 0)
";

/// The most holes at any second.
pub(super) async fn row(server: &Postgres, options: &Options) -> Row {
    let outbox = outbox_on(server).await;
    let pool = outbox.store().pool().clone();
    let (sender, count) = watch::channel(0);
    let relay = outbox.runner().relay(RelayConfig::default(), Arc::new(NullBroker(sender)));
    let runner = relay.start().await.unwrap();
    // In another database of the same server: it blocks what rests on the oldest transaction alone.
    let mut unrelated = PgConnection::connect(&server.fresh_database().await).await.unwrap();
    sqlx::query("CREATE TABLE unrelated (n bigint)").execute(&mut unrelated).await.unwrap();
    let mut open = unrelated.begin().await.unwrap();
    sqlx::query("INSERT INTO unrelated VALUES (1)").execute(&mut *open).await.unwrap();

    let (stop, committed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(0)));
    let mut producers = JoinSet::new();
    for producer in 0..PRODUCERS {
        producers.spawn(produce(outbox.clone(), producer, Arc::clone(&stop), Arc::clone(&committed)));
    }
    let ends = Instant::now() + Duration::from_secs_f64(options.minutes.unwrap_or(MINUTES) * 60.0);
    let mut most = 0;
    while Instant::now() < ends {
        tokio::time::sleep(SAMPLE).await;
        most = most.max(sqlx::query_scalar::<_, i64>(HOLES).fetch_one(&pool).await.unwrap());
    }
    stop.store(true, Ordering::Relaxed);
    while let Some(ended) = producers.join_next().await {
        ended.unwrap();
    }
    let mut count = count;
    let committed = committed.load(Ordering::Relaxed);
    count.wait_for(|count| *count >= committed).await.unwrap();
    println!("holes: {committed} events were committed and relayed meanwhile");
    open.rollback().await.unwrap();
    runner.stop().await.unwrap();
    Row {
        name: "holes beside an open write, a fifth rolled back".into(),
        unit: "holes",
        raw: Vec::new(),
        ours: vec![most as f64],
        wanted: Wanted::AtMost(1_000.0),
    }
}

async fn produce(
    outbox: Outbox<PostgresStore>,
    producer: i64,
    stop: Arc<AtomicBool>,
    committed: Arc<AtomicI64>,
) {
    let mut n = 0;
    while !stop.load(Ordering::Relaxed) {
        n += 1;
        let mut tx = outbox.begin().await.unwrap();
        outbox.enqueue(&mut tx, &noted(&format!("{producer}-{}", n % 100), n)).await.unwrap();
        if n % 5 == 0 {
            tx.rollback().await;
        } else {
            tx.commit().await.unwrap();
            committed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
