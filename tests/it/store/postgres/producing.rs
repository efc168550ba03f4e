//! Enqueue under the settings that applications have.

use super::{LONG, World, event, prove_and_commit};
use outbox::{
    EnqueueError, Event, Outbox, draft,
    store::{Claim, Claimed, News, Store, StoreError},
};
use outbox_tests::{proxy::Proxy, servers::Postgres};
use sqlx::{Connection, PgConnection, Row};
use std::time::{Duration, Instant};

#[derive(Event, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[event(type = "tests.placed", version = 1, topic = "tests")]
struct Placed {
    #[event(key)]
    id: String,
}

fn placed(id: &str) -> Placed {
    Placed { id: id.to_owned() }
}

/// Decoys of our names, and of functions and operators that our statements use, in a schema that is looked at first.
const DECOYS: &str = r"
CREATE SCHEMA tenant_7;
CREATE TABLE tenant_7.outbox_log (LIKE outbox_log INCLUDING ALL);
CREATE TABLE tenant_7.outbox_inbox (LIKE outbox_inbox INCLUDING ALL);
CREATE TABLE tenant_7.outbox_waiting (LIKE outbox_waiting INCLUDING ALL);
CREATE TABLE tenant_7.outbox_leader (LIKE outbox_leader INCLUDING ALL);
CREATE SEQUENCE tenant_7.outbox_seq;
CREATE DOMAIN tenant_7.text AS integer;
CREATE DOMAIN tenant_7.uuid AS integer;
CREATE FUNCTION tenant_7.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT 'infinity'::timestamptz $$;
CREATE FUNCTION tenant_7.nextval(regclass) RETURNS bigint LANGUAGE sql AS $$ SELECT 7::bigint $$;
CREATE FUNCTION tenant_7.current_setting(text) RETURNS pg_catalog.text LANGUAGE sql AS $$ SELECT 'off'::pg_catalog.text $$;
CREATE FUNCTION tenant_7.pg_current_xact_id() RETURNS bigint LANGUAGE sql AS $$ SELECT 7::bigint $$;
CREATE FUNCTION tenant_7.texteq(pg_catalog.text, pg_catalog.text) RETURNS boolean LANGUAGE sql AS $$ SELECT false $$;
CREATE FUNCTION tenant_7.unnest(anyarray) RETURNS SETOF integer LANGUAGE sql AS $$ SELECT 7 $$;
CREATE FUNCTION tenant_7.never(pg_catalog.text, pg_catalog.text) RETURNS boolean LANGUAGE sql AS $$ SELECT false $$;
CREATE FUNCTION tenant_7.never(pg_catalog.uuid, pg_catalog.uuid) RETURNS boolean LANGUAGE sql AS $$ SELECT false $$;
CREATE FUNCTION tenant_7.never(bigint, bigint) RETURNS boolean LANGUAGE sql AS $$ SELECT false $$;
CREATE OPERATOR tenant_7.= (LEFTARG = pg_catalog.text, RIGHTARG = pg_catalog.text, FUNCTION = tenant_7.never);
CREATE OPERATOR tenant_7.= (LEFTARG = pg_catalog.uuid, RIGHTARG = pg_catalog.uuid, FUNCTION = tenant_7.never);
CREATE OPERATOR tenant_7.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = tenant_7.never);
";

#[tokio::test]
async fn the_search_path_changes_nothing() {
    let Some(world) = World::start().await else { return };
    world.execute(DECOYS).await;
    let outbox = Outbox::builder(world.store.clone()).build();
    for path in [
        "SET LOCAL search_path = tenant_7",
        "SET LOCAL search_path = ''",
        "SET LOCAL search_path = tenant_7, pg_catalog",
    ] {
        let mut tx = world.store.pool().begin().await.unwrap();
        sqlx::raw_sql(path).execute(&mut *tx).await.unwrap();
        outbox.enqueue(&mut tx, &placed("one")).await.unwrap();
        let mut savepoint = tx.begin().await.unwrap();
        outbox.enqueue(&mut savepoint, &placed("two")).await.unwrap();
        let locked = ["three", "four"].map(|id| draft(&placed(id)).locked());
        outbox.enqueue_batch(&mut savepoint, locked).await.unwrap();
        savepoint.commit().await.unwrap();
        tx.commit().await.unwrap();
    }
    let mut log = world.open().await;
    assert_eq!(world.relay(&mut log).await, ["one", "two", "three", "four"].repeat(3));

    // A handler's transaction likewise.
    for path in ["SET LOCAL search_path = tenant_7, pg_catalog", "SET LOCAL search_path = ''"] {
        world.publish("handled").await;
        let envelope = outbox::cursor::LogCursor::read(&mut log, 1).await.unwrap().events.remove(0).envelope;
        for is_first in [true, false] {
            let mut tx = world.store.begin_handler(LONG).await.unwrap();
            sqlx::raw_sql(path).execute(&mut *tx).await.unwrap();
            let claim = Claim { envelope: &envelope, from_held: false, window: LONG };
            match world.store.claim(&mut tx, &world.fence, &claim).await.unwrap() {
                Claimed::Fresh(token) if is_first => {
                    prove_and_commit(&world.store, tx, &world.fence, &token).await.unwrap();
                }
                Claimed::Duplicate if !is_first => world.store.rollback(tx).await,
                other => panic!("under {path}: {other:?}"),
            }
        }
    }
    assert_eq!(world.number("SELECT count(*) FROM outbox_inbox").await, 2);
    assert_eq!(world.number("SELECT count(*) FROM tenant_7.outbox_log").await, 0);
}

#[tokio::test]
async fn an_event_raises_synchronous_commit_from_off_and_from_nothing_else() {
    let Some(world) = World::start().await else { return };
    for (before, after) in [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")] {
        for batch in 1..=2 {
            let mut connection = PgConnection::connect(&world.url).await.unwrap();
            sqlx::query("SELECT set_config('synchronous_commit', $1, false)")
                .bind(before)
                .execute(&mut connection)
                .await
                .unwrap();
            let show = "SELECT current_setting('synchronous_commit')";
            let mut tx = connection.begin().await.unwrap();
            let events: Vec<_> = (0..batch).map(|_| event("k")).collect();
            world.store.insert(&mut tx, &events).await.unwrap();
            assert_eq!(sqlx::query_scalar::<_, String>(show).fetch_one(&mut *tx).await.unwrap(), after);
            tx.commit().await.unwrap();
            assert_eq!(
                sqlx::query_scalar::<_, String>(show).fetch_one(&mut connection).await.unwrap(),
                before
            );
        }
    }
}

/// A handler's effect is acked, and a held event is passed: neither may be taken back by a crash.
#[tokio::test]
async fn a_leaders_write_raises_synchronous_commit_from_off() {
    let Some(world) = World::start().await else { return };
    world.publish("k").await;
    let envelope =
        outbox::cursor::LogCursor::read(&mut world.open().await, 1).await.unwrap().events.remove(0).envelope;
    let show = "SELECT current_setting('synchronous_commit')";
    for (before, after) in [("off", "on"), ("remote_write", "remote_write")] {
        let set = format!("SET LOCAL synchronous_commit = {before}");
        for proves in [true, false] {
            let mut tx = world.store.begin_handler(LONG).await.unwrap();
            let claim = Claim { envelope: &envelope, from_held: false, window: LONG };
            let Claimed::Fresh(token) = world.store.claim(&mut tx, &world.fence, &claim).await.unwrap()
            else {
                panic!("the event is new");
            };
            sqlx::raw_sql(sqlx::AssertSqlSafe(set.clone())).execute(&mut *tx).await.unwrap();
            if proves {
                world.store.prove_handler(&mut tx, &world.fence, &token).await.unwrap();
            } else {
                world.store.apply_in(&mut tx, &world.fence, &[]).await.unwrap();
            }
            assert_eq!(sqlx::query_scalar::<_, String>(show).fetch_one(&mut *tx).await.unwrap(), after);
            world.store.rollback(tx).await;
        }
    }
}

#[tokio::test]
async fn another_driver_can_write_the_statement() {
    let Some(world) = World::start().await else { return };
    let outbox = Outbox::builder(world.store.clone()).source("/other").build();
    let (id, statement) = outbox.statement(&placed("k")).unwrap();
    // A driver that leaves the types of its values to the server, as text.
    let prepare = format!("PREPARE written AS {}", statement.sql);
    let mut connection = PgConnection::connect(&world.url).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(prepare)).execute(&mut connection).await.unwrap();
    let literal = |value: &outbox::store::StatementValue| match value {
        outbox::store::StatementValue::Uuid(Some(id)) => format!("'{id}'"),
        outbox::store::StatementValue::Text(Some(text)) => format!("'{text}'"),
        outbox::store::StatementValue::Integer(Some(number)) => number.to_string(),
        _ => "NULL".to_owned(),
    };
    let values: Vec<String> = statement.values.iter().map(literal).collect();
    let execute = format!("EXECUTE written ({})", values.join(", "));
    sqlx::raw_sql(sqlx::AssertSqlSafe(execute)).execute(&mut connection).await.unwrap();

    let page = outbox::cursor::LogCursor::read(&mut world.open().await, 10).await.unwrap();

    assert_eq!(page.events.len(), 1);
    assert_eq!((page.events[0].envelope.id, page.events[0].envelope.source.as_str()), (id, "/other"));
}

#[tokio::test]
async fn a_commit_of_an_aborted_transaction_is_an_error() {
    let Some(world) = World::start().await else { return };
    let outbox = Outbox::builder(world.store.clone()).build();
    let mut tx = outbox.begin().await.unwrap();
    outbox.enqueue(&mut tx, &placed("k")).await.unwrap();
    sqlx::query("SELECT 1 / 0").execute(&mut *tx).await.unwrap_err();

    let committed = tx.commit().await;

    assert!(matches!(committed, Err(StoreError::Aborted { .. })), "{committed:?}");
    let mut tx = outbox.begin().await.unwrap();
    sqlx::query("SELECT 1 / 0").execute(&mut *tx).await.unwrap_err();
    let refused = outbox.enqueue(&mut tx, &placed("k")).await;
    assert!(
        matches!(&refused, Err(EnqueueError::Store { source: StoreError::Aborted { .. }, .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_proven_commit_leaves_a_connection_as_it_was() {
    let Some(world) = World::start().await else { return };
    let pool = sqlx::postgres::PgPoolOptions::new().max_connections(1).connect(&world.url).await.unwrap();
    let store = outbox::postgres::PostgresStore::with_pool(pool, Default::default()).unwrap();
    for number in 0..3 {
        let mut tx = store.begin().await.unwrap();
        store.insert(&mut tx, &[event(&number.to_string())]).await.unwrap();
        store.commit(tx).await.unwrap();
        // Outside of a transaction: what is written now stays without another commit.
        let xid = "SELECT pg_current_xact_id_if_assigned() IS NULL";
        assert!(sqlx::query(xid).fetch_one(store.pool()).await.unwrap().get::<bool, _>(0));
        store.insert(&mut store.pool().acquire().await.unwrap(), &[event("alone")]).await.unwrap();
    }
    assert_eq!(world.number("SELECT count(*) FROM outbox_log").await, 6);
}

#[tokio::test]
async fn a_transaction_that_was_ended_early_is_noticed() {
    let Some(world) = World::start().await else { return };
    for end in ["COMMIT", "ROLLBACK"] {
        let mut tx = world.store.begin().await.unwrap();
        sqlx::raw_sql(end).execute(&mut *tx).await.unwrap();
        let committed = world.store.commit(tx).await;
        assert!(matches!(committed, Err(StoreError::EndedEarly)), "{end}: {committed:?}");
    }
    world.publish("k").await;
    let envelope =
        outbox::cursor::LogCursor::read(&mut world.open().await, 1).await.unwrap().events.remove(0).envelope;
    for end in ["ROLLBACK", "ROLLBACK; BEGIN", "ROLLBACK; BEGIN; SELECT pg_current_xact_id()"] {
        let mut tx = world.store.begin_handler(LONG).await.unwrap();
        let claim = Claim { envelope: &envelope, from_held: false, window: LONG };
        let Claimed::Fresh(token) = world.store.claim(&mut tx, &world.fence, &claim).await.unwrap() else {
            panic!("{end} left the claim of the one before");
        };
        sqlx::raw_sql(end).execute(&mut *tx).await.unwrap();
        let committed = prove_and_commit(&world.store, tx, &world.fence, &token).await;
        assert!(matches!(committed, Err(StoreError::EndedEarly)), "{end}: {committed:?}");
    }
}

#[tokio::test]
async fn a_handler_that_swallows_a_database_error_fails() {
    let Some(world) = World::start().await else { return };
    world.publish("k").await;
    let envelope =
        outbox::cursor::LogCursor::read(&mut world.open().await, 1).await.unwrap().events.remove(0).envelope;
    let mut tx = world.store.begin_handler(LONG).await.unwrap();
    let claim = Claim { envelope: &envelope, from_held: false, window: LONG };
    let Claimed::Fresh(token) = world.store.claim(&mut tx, &world.fence, &claim).await.unwrap() else {
        panic!("the event is new");
    };
    sqlx::query("SELECT 1 / 0").execute(&mut *tx).await.unwrap_err();

    let committed = prove_and_commit(&world.store, tx, &world.fence, &token).await;

    assert!(matches!(committed, Err(StoreError::Aborted { .. })), "{committed:?}");
    assert_eq!(world.number("SELECT count(*) FROM outbox_inbox").await, 0);
}

#[tokio::test]
async fn a_row_that_no_reader_could_read_is_refused_by_the_table() {
    let Some(world) = World::start().await else { return };
    let insert = |column: &str, value: &str| {
        format!(
            "INSERT INTO outbox_log (id, topic, event_type, event_version, payload, source, dataschema, on_poison, {column})
             VALUES (gen_random_uuid(), 't', 't', 1, '{{}}', '/', 'urn:t', 'park', {value})"
        )
    };
    for (column, value) in [
        ("key", "''"),
        ("key", "repeat('k', 3000)"),
        ("headers", "'[]'"),
        ("headers", "'no json'"),
        ("occurred_at", "'infinity'"),
        ("occurred_at", "'20000-01-01'"),
        ("twin_version", "1"),
    ] {
        let sql = sqlx::AssertSqlSafe(insert(column, value));
        assert!(
            sqlx::raw_sql(sql).execute(world.store.pool()).await.is_err(),
            "{column} = {value} was taken"
        );
    }
    let foreign = sqlx::AssertSqlSafe(insert("headers", r#"'{"a": 1e999999, "b": {"c": null}}'"#));
    sqlx::raw_sql(foreign).execute(world.store.pool()).await.unwrap();
    let broken = sqlx::AssertSqlSafe(insert("headers", r#"'{"\ud800": ""}'"#));
    sqlx::raw_sql(broken).execute(world.store.pool()).await.unwrap();
    let page = outbox::cursor::LogCursor::read(&mut world.open().await, 10).await.unwrap();
    let headers = &page.events[0].envelope.headers;
    assert_eq!((headers["a"].as_str(), headers["b"].as_str()), ("1e999999", r#"{"c": null}"#));
    assert_eq!(page.events[1].envelope.headers["unreadable"], r#"{"\ud800": ""}"#);
}

#[tokio::test]
async fn a_notification_reaches_all_who_wait_in_another_process() {
    let Some(world) = World::start().await else { return };
    let other = outbox::postgres::PostgresStore::connect(&world.url).await.unwrap();
    // The first wait only connects; from then on each notification is heard.
    let mut one = 0;
    other.notified(News::Logged, &mut one).await;
    let (mut two, mut three) = (one, one);
    let all = async {
        tokio::join!(
            other.notified(News::Logged, &mut one),
            other.notified(News::Logged, &mut two),
            other.notified(News::Logged, &mut three)
        )
    };
    let notify = async {
        loop {
            world.store.notify(News::Logged).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = all => {}
        () = notify => {}
    }
}

#[tokio::test]
async fn writers_that_lock_a_key_by_their_drafts_are_numbered_in_the_order_of_their_commits() {
    let Some(world) = World::start().await else { return };
    let outbox = Outbox::builder(world.store.clone()).build();
    let mut watcher = PgConnection::connect(&world.url).await.unwrap();
    let mut first = outbox.begin().await.unwrap();
    outbox.enqueue_batch(&mut first, ["b", "a"].map(|id| draft(&placed(id)).locked())).await.unwrap();
    let mut other = outbox.begin().await.unwrap();
    outbox.enqueue(&mut other, draft(&placed("other")).locked()).await.unwrap();
    other.commit().await.unwrap();
    let second = tokio::spawn({
        let outbox = outbox.clone();
        async move {
            let mut tx = outbox.begin().await.unwrap();
            // In the opposite order: without an order of their own these two would deadlock.
            outbox.enqueue_batch(&mut tx, ["a", "b"].map(|id| draft(&placed(id)).locked())).await.unwrap();
            tx.commit().await.unwrap();
        }
    });
    super::until_waiting(&mut watcher, 1).await;
    outbox.enqueue(&mut first, draft(&placed("b")).locked()).await.unwrap();
    first.commit().await.unwrap();
    second.await.unwrap();

    let page = outbox::cursor::LogCursor::read(&mut world.open().await, 10).await.unwrap();

    assert_eq!(super::keys_of(&page), ["b", "a", "other", "b", "a", "b"]);
}

#[tokio::test]
async fn a_notification_that_came_between_two_waits_is_not_missed() {
    let Some(world) = World::start().await else { return };
    let other = outbox::postgres::PostgresStore::connect(&world.url).await.unwrap();
    let mut one = 0;
    other.notified(News::Logged, &mut one).await;
    let mut busy = one;
    let waits = async { other.notified(News::Logged, &mut one).await };
    let notify = async {
        loop {
            world.store.notify(News::Logged).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = waits => {}
        () = notify => {}
    }

    // Nothing more is sent, and this one did not wait when it came.
    tokio::time::timeout(super::PATIENCE, other.notified(News::Logged, &mut busy))
        .await
        .expect("it was heard by another one");
}

#[tokio::test]
async fn what_was_sent_while_the_listening_connection_was_lost_is_looked_for_though_the_waits_are_short() {
    let Some(postgres) = Postgres::shared().await else { return };
    let world = World::on(postgres).await;
    let proxy = Proxy::to(postgres.port()).await;
    let url = world.url.replace(&postgres.port().to_string(), &proxy.address().port().to_string());
    let pool = sqlx::postgres::PgPoolOptions::new().connect_lazy(&url).unwrap();
    let other = outbox::postgres::PostgresStore::with_pool(pool, Default::default()).unwrap();
    let mut heard = 0;
    other.notified(News::Logged, &mut heard).await;
    let short = Duration::from_millis(1);

    proxy.cut();
    for _ in 0..20 {
        let _ = tokio::time::timeout(short, other.notified(News::Logged, &mut heard)).await;
    }
    let before = heard;
    proxy.resume();

    // Nothing is sent any more, so only the connection itself can tell. It takes longer to make than any one wait, so each
    // must go on where the one before was dropped.
    let deadline = Instant::now() + super::PATIENCE;
    while heard == before {
        let _ = tokio::time::timeout(short, other.notified(News::Logged, &mut heard)).await;
        assert!(Instant::now() < deadline, "the new connection did not say that something may be missed");
    }
}
