//! The drain of a relay beside a million events that wait for their time, against the same drain without them; and how
//! fast those that are due enter the log.

use super::drain::{EVENTS, drain_by_relay, fill};
use super::{Row, Wanted, enqueue::outbox_on};
use crate::servers::Postgres;
use outbox::held::{Share, Stage};
use outbox::lease::{Fence, LeaseName, Owner};
use outbox::postgres::PostgresStore;
use outbox::{Outbox, Store};
use std::time::{Duration, Instant};

/// Many that are due in a year or so.
const WAITING: &str = "
    INSERT INTO outbox_scheduled (due_at, id, topic, key, event_type, event_version, payload, source, dataschema, on_poison)
    SELECT now() + interval '1 year' + i * interval '1 s', gen_random_uuid(), 'bench', 'key-' || i % 5000, 'bench.noted', 1,
           '{\"eventType\":\"bench.noted\",\"eventVersion\":1}', '/bench', 'urn:outbox:bench.noted:1', 'park'
      FROM generate_series(1, 1000000) AS i
";
const DUE: &str = "
    UPDATE outbox_scheduled SET due_at = now() - interval '1 h' + number * interval '1 ms'
     WHERE number IN (SELECT number FROM outbox_scheduled ORDER BY due_at, number LIMIT 100000)
";
const DUE_EVENTS: f64 = 100_000.0;
const PAGE: u32 = 1_000;

pub(super) async fn rows(server: &Postgres, rounds: usize) -> Vec<Row> {
    let (alone, beside) = (outbox_on(server).await, outbox_on(server).await);
    fill(&alone).await;
    fill(&beside).await;
    let pool = beside.store().pool();
    sqlx::query(WAITING).execute(pool).await.unwrap();
    sqlx::query("VACUUM ANALYZE outbox_scheduled").execute(pool).await.unwrap();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let (one, other) = (drain(&alone, round).await, drain(&beside, round).await);
        if round > 0 {
            without.push(one);
            with.push(other);
        }
    }
    let drained = Row {
        name: "drain beside 1,000,000 scheduled events".into(),
        unit: "events/s",
        raw: without,
        ours: with,
        wanted: Wanted::RatioAtLeast(0.9),
    };
    vec![drained, moved(&beside).await]
}

/// Events a second.
async fn drain(outbox: &Outbox<PostgresStore>, round: usize) -> f64 {
    let begun = Instant::now();
    drain_by_relay(outbox, &format!("round-{round}")).await;
    EVENTS as f64 / begun.elapsed().as_secs_f64()
}

async fn moved(outbox: &Outbox<PostgresStore>) -> Row {
    let store = outbox.store();
    sqlx::query(DUE).execute(store.pool()).await.unwrap();
    let (stage, share, owner) = (Stage::upkeep(), Share::default(), Owner::new());
    let lease = LeaseName::of(&stage, &share);
    let epoch = store.acquire(&lease, owner, Duration::from_secs(3600)).await.unwrap();
    let fence = Fence { stage, share, owner, epoch: epoch.expect("the relays have stopped") };
    let begun = Instant::now();
    while store.move_due(&fence, PAGE).await.unwrap() > 0 {}
    Row {
        name: "  100,000 due events into the log".into(),
        unit: "events/s",
        raw: Vec::new(),
        ours: vec![DUE_EVENTS / begun.elapsed().as_secs_f64()],
        wanted: Wanted::Nothing,
    }
}
