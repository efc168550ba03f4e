//! The rights of 'producer', 'relay' and 'consumer', and no others.

use super::{LONG, event, lead, prove_and_commit};
use outbox::{
    Range,
    cursor::{Filter, LogCursor, Start},
    dead_letter::{AuditFilter, DeadLetterFilter, Request, Terms},
    held::{Change, Failure, HeldId, Stage},
    postgres::{PostgresConfig, PostgresStore, Role},
    scheduled::{Cancellation, NewScheduled, ScheduledFilter},
    store::{Claim, Claimed, News, Retention, Store},
};
use outbox_tests::servers::Postgres;
use sqlx::{AssertSqlSafe, PgPool};
use std::{str::FromStr, time::Duration};
use time::OffsetDateTime;

/// The owner's store in a schema of its own, and the same store under a role that was granted one kind of rights.
async fn granted(postgres: &Postgres, role: Role, name: &str) -> (PostgresStore, PostgresStore) {
    let url = postgres.fresh_database().await;
    let database = url.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let config = PostgresConfig { schema: "events".to_owned(), ..PostgresConfig::default() };
    let owner = PostgresStore::with_pool(PgPool::connect(&url).await.unwrap(), config.clone()).unwrap();
    owner.migrate().await.unwrap();
    let create = format!("CREATE ROLE \"{}\" LOGIN", name.replace('"', "\"\""));
    sqlx::raw_sql(AssertSqlSafe(create)).execute(owner.pool()).await.unwrap();
    owner.grant(role, name).await.unwrap();
    let options =
        sqlx::postgres::PgConnectOptions::from_str(&postgres.url(&database)).unwrap().username(name);
    let pool = PgPool::connect_with(options).await.unwrap();
    (owner, PostgresStore::with_pool(pool, config).unwrap())
}

async fn publish(store: &PostgresStore) {
    let mut tx = store.begin().await.unwrap();
    store.insert(&mut tx, &[event("a")]).await.unwrap();
    store.insert(&mut tx, &[event("b"), event("c")]).await.unwrap();
    store.commit(tx).await.unwrap();
    store.notify(News::Logged).await.unwrap();
}

/// What a producer may do with scheduled events: one stays, one is taken back, one is due.
async fn schedule_and_cancel(store: &PostgresStore) {
    let mut tx = store.begin().await.unwrap();
    let one = |secs| NewScheduled {
        due: OffsetDateTime::now_utc() + time::Duration::seconds(secs),
        event: event("scheduled"),
    };
    let (stays, goes, due) = (one(600), one(600), one(-1));
    store.schedule(&mut tx, &[stays, goes.clone(), due]).await.unwrap();
    assert_eq!(store.cancel(&mut tx, goes.event.id).await.unwrap(), Cancellation::Cancelled);
    store.commit(tx).await.unwrap();
    store.notify(News::Scheduled).await.unwrap();
}

async fn assert_denied(store: &PostgresStore, statements: &[&str]) {
    for statement in statements {
        let sql = AssertSqlSafe((*statement).to_owned());
        let error = sqlx::raw_sql(sql).execute(store.pool()).await.expect_err(statement);
        let code = error.as_database_error().unwrap().code().unwrap().into_owned();
        assert_eq!(code, "42501", "{statement}: {error}");
    }
}

const EXPLICIT_SEQ: &str =
    "INSERT INTO events.outbox_log (seq, id, topic, event_type, event_version, payload, source, dataschema,
    on_poison) VALUES (1, gen_random_uuid(), 't', 't', 1, '{}', '/', 'urn:t', 'park')";
const EXPLICIT_SLOT: &str =
    "INSERT INTO events.outbox_log (slot, id, topic, event_type, event_version, payload, source, dataschema,
    on_poison) VALUES (1, gen_random_uuid(), 't', 't', 1, '{}', '/', 'urn:t', 'park')";

#[tokio::test]
async fn a_producer_writes_events_and_nothing_else() {
    let Some(postgres) = Postgres::shared().await else { return };
    let (owner, producer) = granted(postgres, Role::Producer, "Producer \"1\"").await;
    producer.check().await.unwrap();
    publish(&producer).await;
    schedule_and_cancel(&producer).await;
    let fence = lead(&owner, &Stage::relay("r"), LONG).await;
    let mut log = owner.open_log(&fence, Filter::default(), Start::Earliest).await.unwrap();
    assert_eq!(log.read(10).await.unwrap().events.len(), 3);

    assert_denied(
        &producer,
        &[
            EXPLICIT_SEQ,
            EXPLICIT_SLOT,
            "SELECT count(*) FROM events.outbox_log",
            "UPDATE events.outbox_log SET payload = ''",
            "DELETE FROM events.outbox_log",
            "TRUNCATE events.outbox_log_3",
            "SELECT setval('events.outbox_seq', 1)",
            "SELECT * FROM events.outbox_held",
            "INSERT INTO events.outbox_inbox VALUES ('s', gen_random_uuid(), '/')",
            "UPDATE events.outbox_version SET version = 0",
            "SELECT count(*) FROM events.outbox_scheduled",
            "DELETE FROM events.outbox_scheduled",
            "UPDATE events.outbox_scheduled SET due_at = now()",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_relay_works_with_its_rights() {
    let Some(postgres) = Postgres::shared().await else { return };
    let (_owner, relay) = granted(postgres, Role::Relay, "relay_role").await;
    relay.check().await.unwrap();
    publish(&relay).await;
    work_a_stage(&relay, &Stage::relay("r")).await;
    let none = Retention {
        log: Duration::ZERO,
        inbox: Duration::ZERO,
        wait_max: LONG,
        dead_letters: Duration::ZERO,
        audit: LONG,
    };
    while relay.sweep(outbox::lease::Owner::new(), &none).await.unwrap().is_zero() {}
    let left: i64 =
        sqlx::query_scalar("SELECT count(*) FROM events.outbox_log").fetch_one(relay.pool()).await.unwrap();
    assert_eq!(left, 0, "the leaf was to be cleared");
    assert!(relay.may_keep().await.unwrap());
    schedule_and_cancel(&relay).await;
    let upkeep = lead(&relay, &Stage::upkeep(), LONG).await;
    assert_eq!(relay.due_in().await.unwrap(), Some(Duration::ZERO));
    assert_eq!(relay.move_due(&upkeep, 10).await.unwrap(), 1);
    assert_eq!(relay.scheduled(&ScheduledFilter::default(), 10).await.unwrap().len(), 1);

    assert_denied(
        &relay,
        &[
            EXPLICIT_SEQ,
            "UPDATE events.outbox_log SET payload = ''",
            "DELETE FROM events.outbox_log",
            "SELECT setval('events.outbox_seq', 1)",
            "ALTER TABLE events.outbox_log ADD COLUMN more int",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_consumer_works_with_its_rights() {
    let Some(postgres) = Postgres::shared().await else { return };
    let (_owner, consumer) = granted(postgres, Role::Consumer, "consumer_role").await;
    consumer.check().await.unwrap();
    publish(&consumer).await;
    work_a_stage(&consumer, &Stage::consumer("c")).await;
    schedule_and_cancel(&consumer).await;
    assert!(!consumer.may_keep().await.unwrap(), "it leaves that to a process that may");

    assert_denied(
        &consumer,
        &[
            EXPLICIT_SEQ,
            "UPDATE events.outbox_log SET payload = ''",
            "DELETE FROM events.outbox_log",
            "TRUNCATE events.outbox_log_3",
            "SELECT setval('events.outbox_seq', 1)",
        ],
    )
    .await;
}

/// Everything that a leader does in its life.
async fn work_a_stage(store: &PostgresStore, stage: &Stage) {
    let fence = lead(store, stage, LONG).await;
    store.join(stage, fence.owner, LONG).await.unwrap();
    store.renew(&[fence.lease()], fence.owner, LONG).await.unwrap();
    let mut log = store.open_log(&fence, Filter::default(), Start::Earliest).await.unwrap();
    let page = log.read(10).await.unwrap();
    assert_eq!(page.events.len(), 3);
    let [first, second, third] = [0, 1, 2].map(|at| page.events[at].envelope.clone());
    let failure = Failure { reason: "refused", error_chain: "refused".to_owned() };
    let hold = Change::Hold {
        envelope: first.clone(),
        attempts: 1,
        retry_in: Duration::ZERO,
        failure: failure.clone(),
    };
    let dead = Change::Dead { envelope: second, attempts: 1, failure, park: true };
    log.settle(&fence, &super::all_of(&page), &[hold, dead]).await.unwrap();
    assert_eq!(store.due_heads(&fence, 10).await.unwrap().len(), 1);
    store.apply(&fence, &[Change::Done { held: HeldId::of(&first) }]).await.unwrap();
    let mut tx = store.begin_handler(LONG).await.unwrap();
    let claim = Claim { envelope: &third, from_held: false, window: LONG };
    let Claimed::Fresh(token) = store.claim(&mut tx, &fence, &claim).await.unwrap() else {
        panic!("the event is new")
    };
    prove_and_commit(store, tx, &fence, &token).await.unwrap();
    assert_eq!(
        store
            .request(&DeadLetterFilter::default(), Request::Discard, &Terms::new("test", "mended"))
            .await
            .unwrap(),
        1
    );
    assert_eq!(store.act_on_requests(&fence, 10).await.unwrap(), 1);
    assert_eq!(
        store.cancel_requests(&DeadLetterFilter::default(), &Terms::new("test", "late")).await.unwrap(),
        0
    );
    assert_eq!(store.audit(&AuditFilter::default(), 10).await.unwrap().len(), 1);
    let (replay, _) =
        store.replay_range(&Range::to(stage.clone()), &Terms::new("test", "lost")).await.unwrap();
    assert_eq!(store.take_up_range(&fence, &Filter::default(), 10).await.unwrap(), 3);
    assert!(!store.cancel_range(replay.unwrap()).await.unwrap());
    assert_eq!(store.range_replays(10).await.unwrap().len(), 1);
    assert_eq!(store.status().await.unwrap().len(), 1);
    store.state(third.id).await.unwrap();
    store.leave(stage, fence.owner).await.unwrap();
    store.release(&fence.lease(), fence.owner).await.unwrap();
}
