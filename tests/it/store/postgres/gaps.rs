//! Numbers that become visible late, or never.

use super::{World, event, lead};
use outbox::{
    cursor::{Filter, LogCursor, Settled, Start},
    held::Stage,
    store::Store,
};
use outbox_tests::servers::Postgres;
use sqlx::{Connection, PgConnection};
use std::time::{Duration, Instant};

/// Relays until no hole is recorded any more, writing events of key `tick` as a live system would; gives the other keys.
async fn until_no_hole_is_left(world: &World, log: &mut outbox::postgres::PostgresLog) -> Vec<String> {
    let started = Instant::now();
    let mut keys = Vec::new();
    while world.recorded_holes().await > 0 {
        assert!(started.elapsed() < super::PATIENCE, "a hole was not proven dead");
        world.publish("tick").await;
        keys.extend(world.relay_what_is_there(log).await.into_iter().filter(|key| key != "tick"));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    keys
}

#[tokio::test]
async fn the_smaller_seq_that_commits_later_is_delivered() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    let mut early = world.store.begin().await.unwrap();
    world.store.insert(&mut early, &[event("early")]).await.unwrap();
    world.publish("late").await;

    assert_eq!(world.relay(&mut log).await, ["late"]);
    assert_eq!(world.recorded_holes().await, 1);
    world.store.commit(early).await.unwrap();
    let page = log.read(100).await.unwrap();

    assert_eq!(super::keys_of(&page), ["early"]);
    assert!(page.events[0].late);
    log.settle(&world.fence, &super::all_of(&page), &[]).await.unwrap();
    until_no_hole_is_left(&world, &mut log).await;
    assert_eq!(world.relay_what_is_there(&mut world.open().await).await, [] as [&str; 0]);
}

#[tokio::test]
async fn a_settle_of_an_earlier_connection_that_comes_late_brings_no_hole_back() {
    let Some(world) = World::start().await else { return };
    let mut earlier = world.open().await;
    let mut open = Vec::new();
    for key in ["one", "other"] {
        let mut tx = world.store.begin().await.unwrap();
        world.store.insert(&mut tx, &[event(key)]).await.unwrap();
        open.push(tx);
    }
    world.publish("late").await;
    assert_eq!(world.relay(&mut earlier).await, ["late"]);
    for tx in open {
        world.store.commit(tx).await.unwrap();
    }
    let found = earlier.read(100).await.unwrap();
    assert_eq!(super::keys_of(&found), ["one", "other"]);

    // The same leader goes on over another connection.
    let mut log = world.open().await;
    assert_eq!(world.relay(&mut log).await, ["one", "other"]);
    let one = Settled { through: None, late: vec![found.events[0].envelope.seq] };
    let refused = earlier.settle(&world.fence, &one, &[]).await.unwrap_err();

    assert!(refused.is_transient(), "{refused}");
    assert_eq!(world.recorded_holes().await, 0);
}

#[tokio::test]
async fn a_seq_that_commits_later_is_delivered_to_the_next_leader() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    let mut early = world.store.begin().await.unwrap();
    world.store.insert(&mut early, &[event("early")]).await.unwrap();
    world.publish("late").await;
    assert_eq!(world.relay(&mut log).await, ["late"]);
    drop(log);
    world.store.commit(early).await.unwrap();

    // Found and not settled: it is found again.
    for _ in 0..2 {
        let page = world.open().await.read(100).await.unwrap();
        assert_eq!(super::keys_of(&page), ["early"]);
    }
    let mut log = world.open().await;
    assert_eq!(world.relay(&mut log).await, ["early"]);
    assert_eq!(world.relay_what_is_there(&mut world.open().await).await, [] as [&str; 0]);
}

#[tokio::test]
async fn a_late_row_that_a_filter_hides_is_named_and_settled() {
    let Some(world) = World::start().await else { return };
    let filter = Filter { topics: vec!["other".to_owned()], ..Filter::default() };
    let mut log = world.store.open_log(&world.fence, filter, Start::Earliest).await.unwrap();
    let mut early = world.store.begin().await.unwrap();
    world.store.insert(&mut early, &[event("early")]).await.unwrap();
    world.publish("late").await;
    world.relay_what_is_there(&mut log).await;
    world.store.commit(early).await.unwrap();

    let page = log.read(100).await.unwrap();

    assert_eq!((page.events.len(), page.late_unmatched.len()), (0, 1));
    log.settle(&world.fence, &super::all_of(&page), &[]).await.unwrap();
    until_no_hole_is_left(&world, &mut log).await;
}

#[tokio::test]
async fn a_rolled_back_seq_does_not_stall() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    let mut doomed = world.store.begin().await.unwrap();
    world.store.insert(&mut doomed, &[event("doomed")]).await.unwrap();
    world.publish("next").await;
    world.store.rollback(doomed).await;

    assert_eq!(world.relay(&mut log).await, ["next"]);
    assert_eq!(world.recorded_holes().await, 1);
    assert_eq!(until_no_hole_is_left(&world, &mut log).await, [] as [&str; 0]);
}

#[tokio::test]
async fn a_rolled_back_seq_does_not_stall_beside_a_write_transaction_in_another_database() {
    let Some(postgres) = Postgres::shared().await else { return };
    let world = World::on(postgres).await;
    let mut stranger = PgConnection::connect(&postgres.fresh_database().await).await.unwrap();
    sqlx::raw_sql("BEGIN; CREATE TABLE held_open (n int)").execute(&mut stranger).await.unwrap();
    let mut log = world.open().await;
    let mut doomed = world.store.begin().await.unwrap();
    world.store.insert(&mut doomed, &[event("doomed")]).await.unwrap();
    world.publish("next").await;
    world.store.rollback(doomed).await;

    assert_eq!(world.relay(&mut log).await, ["next"]);
    assert_eq!(until_no_hole_is_left(&world, &mut log).await, [] as [&str; 0]);

    sqlx::raw_sql("ROLLBACK").execute(&mut stranger).await.unwrap();
}

#[tokio::test]
async fn a_transaction_open_for_long_delays_only_its_own_event() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    let mut long = world.store.begin().await.unwrap();
    world.store.insert(&mut long, &[event("long")]).await.unwrap();

    // Beyond the time after which the exact proof is tried, and through both of its questions.
    let opened = Instant::now();
    let mut delivered = 0;
    while opened.elapsed() < Duration::from_secs(4) {
        world.publish("other").await;
        let asked = Instant::now();
        assert_eq!(world.relay(&mut log).await, ["other"]);
        assert!(asked.elapsed() < Duration::from_secs(3), "an event waited for the long transaction");
        delivered += 1;
    }
    assert!(delivered > 10);
    assert_eq!(world.number("SELECT count(*) FROM outbox_hole").await, 1, "an old hole has its own row");
    world.store.commit(long).await.unwrap();

    assert_eq!(world.relay(&mut log).await, ["long"]);
}

#[tokio::test]
async fn a_prepared_transaction_keeps_its_event() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    let mut early = PgConnection::connect(&world.url).await.unwrap();
    sqlx::raw_sql("BEGIN").execute(&mut early).await.unwrap();
    world.store.insert(&mut early, &[event("prepared")]).await.unwrap();
    world.publish("late").await;
    assert_eq!(world.relay(&mut log).await, ["late"]);
    // Its holder is known under its process before it is prepared.
    let asked = Instant::now();
    while asked.elapsed() < Duration::from_millis(1500) {
        assert_eq!(world.relay_what_is_there(&mut log).await, [] as [&str; 0]);
    }
    sqlx::raw_sql("PREPARE TRANSACTION 'gap'").execute(&mut early).await.unwrap();
    drop(early);
    let asked = Instant::now();
    while asked.elapsed() < Duration::from_secs(3) {
        assert_eq!(world.relay_what_is_there(&mut log).await, [] as [&str; 0]);
    }

    world.execute("COMMIT PREPARED 'gap'").await;

    assert_eq!(world.relay(&mut log).await, ["prepared"]);
}

#[tokio::test]
async fn an_event_rolled_back_to_a_savepoint_ends_with_its_transaction() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    let mut tx = world.store.begin().await.unwrap();
    let mut savepoint = tx.begin().await.unwrap();
    world.store.insert(&mut savepoint, &[event("undone")]).await.unwrap();
    savepoint.rollback().await.unwrap();
    world.publish("between").await;
    world.store.insert(&mut tx, &[event("kept")]).await.unwrap();
    world.publish("after").await;

    assert_eq!(world.relay(&mut log).await, ["between", "after"]);
    assert_eq!(world.recorded_holes().await, 2);
    world.store.commit(tx).await.unwrap();

    assert_eq!(world.relay(&mut log).await, ["kept"]);
    assert_eq!(until_no_hole_is_left(&world, &mut log).await, [] as [&str; 0]);
}

/// T1 has the lower transaction id and the later event: an order by transaction id would turn them round.
#[tokio::test]
async fn first_xid_later_row_lock_keeps_order() {
    let Some(world) = World::start().await else { return };
    world.execute("CREATE TABLE orders (id int PRIMARY KEY); INSERT INTO orders VALUES (1)").await;
    let lock = "UPDATE orders SET id = id WHERE id = 1";
    let mut first_xid = world.store.begin().await.unwrap();
    let mut first_lock = world.store.begin().await.unwrap();
    for (tx, sql) in
        [(&mut first_xid, "SELECT pg_current_xact_id()"), (&mut first_lock, "SELECT pg_current_xact_id()")]
    {
        sqlx::query(sql).execute(&mut **tx).await.unwrap();
    }
    sqlx::query(lock).execute(&mut *first_lock).await.unwrap();
    let store = world.store.clone();
    let waiting = tokio::spawn(async move {
        sqlx::query(lock).execute(&mut *first_xid).await.unwrap();
        store.insert(&mut first_xid, &[event("second")]).await.unwrap();
        store.commit(first_xid).await.unwrap();
    });
    super::until_waiting(&mut PgConnection::connect(&world.url).await.unwrap(), 1).await;
    world.store.insert(&mut first_lock, &[event("first")]).await.unwrap();
    world.store.commit(first_lock).await.unwrap();
    waiting.await.unwrap();

    let page = world.open().await.read(100).await.unwrap();

    assert_eq!(super::keys_of(&page), ["first", "second"]);
}

#[tokio::test]
async fn a_stage_that_starts_at_latest_keeps_the_gaps_it_finds() {
    let Some(world) = World::start().await else { return };
    let mut open = world.store.begin().await.unwrap();
    world.store.insert(&mut open, &[event("open")]).await.unwrap();
    world.publish("old").await;
    // One stage finds the gap in the log, the next takes it over from the first.
    let mut logs = Vec::new();
    for name in ["a", "b"] {
        let fence = lead(&world.store, &Stage::consumer(name), super::LONG).await;
        logs.push(world.store.open_log(&fence, Filter::default(), Start::Latest).await.unwrap());
    }
    world.store.commit(open).await.unwrap();

    for mut log in logs {
        assert_eq!(super::keys_of(&log.read(100).await.unwrap()), ["open"]);
    }
}

/// Without the raise the commit of the producer is lost, its number is given again, and the relay, which has passed it,
/// never sees the next event. The other table shows that this server does lose such commits.
#[tokio::test]
async fn an_asynchronous_commit_and_a_killed_server_leave_no_phantom() {
    let lossy = ["wal_writer_delay=10s", "synchronous_commit=off"];
    let Some(postgres) = Postgres::private_with(&lossy).await else { return };
    for batch in 1..=2 {
        let world = World::on(&postgres).await;
        world.execute("CREATE TABLE lost (n int); CHECKPOINT").await;
        let mut log = world.open().await;
        let mut tx = world.store.begin().await.unwrap();
        world.store.insert(&mut tx, &vec![event("before"); batch]).await.unwrap();
        world.store.commit(tx).await.unwrap();
        // Read, hence published. A settle would flush what came before it.
        let page = log.read(100).await.unwrap();
        assert_eq!(super::keys_of(&page), vec!["before"; batch]);
        world.execute("INSERT INTO lost VALUES (1)").await;

        postgres.kill();
        postgres.restart().await;

        let stale = log.settle(&world.fence, &super::all_of(&page), &[]).await.unwrap_err();
        assert!(stale.is_transient(), "{stale:?}");
        while world.store.pool().acquire().await.is_err() {}
        assert_eq!(
            world.number("SELECT count(*) FROM lost").await,
            0,
            "this server keeps asynchronous commits"
        );
        let kept = world.number("SELECT count(*) FROM outbox_log").await;
        assert_eq!(kept, batch as i64, "an event that was published is gone");
        world.publish("after").await;
        let mut keys = Vec::new();
        while !keys.contains(&"after".to_owned()) {
            keys.extend(world.relay(&mut log).await);
        }
        assert_eq!(keys, [vec!["before"; batch], vec!["after"]].concat());
    }
}

#[tokio::test]
async fn a_start_at_a_time_gets_what_was_open_then_and_foreign_headers_stop_no_filter() {
    let Some(world) = World::start().await else { return };
    world.publish("before").await;
    let mut open = world.store.begin().await.unwrap();
    world.store.insert(&mut open, &[event("open")]).await.unwrap();
    world.publish("a").await;
    // What other writers may put in: PostgreSQL cannot read the escape, and the value is no text.
    world.execute(r#"UPDATE outbox_log SET headers = '{"tenant": "\u0000"}' WHERE key = 'a'"#).await;
    world.publish("b").await;
    world.execute(r#"UPDATE outbox_log SET headers = '{"tenant": 1e99999999}' WHERE key = 'b'"#).await;
    world.publish("c").await;
    world.execute(r#"UPDATE outbox_log SET headers = '{"tenant": "\u0061cme"}' WHERE key = 'c'"#).await;
    let now = time::OffsetDateTime::now_utc();
    let fence = lead(&world.store, &Stage::relay("at"), super::LONG).await;
    let headers = [("tenant".to_owned(), "acme".to_owned())].into();
    let filter = Filter { headers, ..Filter::default() };
    let opened = world.store.open_log(&fence, Filter::default(), Start::At(now + super::LONG)).await;
    let mut log = opened.unwrap();
    assert_eq!(log.read(10).await.unwrap().events, []);

    world.store.commit(open).await.unwrap();

    let page = log.read(10).await.unwrap();
    assert_eq!((super::keys_of(&page), page.events[0].late), (vec!["open".to_owned()], true));
    let fence = lead(&world.store, &Stage::relay("filtered"), super::LONG).await;
    let mut filtered = world.store.open_log(&fence, filter, Start::Earliest).await.unwrap();
    assert_eq!(super::keys_of(&filtered.read(10).await.unwrap()), ["c"]);
}
