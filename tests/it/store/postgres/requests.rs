//! A person asks for the same dead letters that the leader is acting on.

use super::{World, all_of, until_waiting};
use outbox::{
    DeadLetterFilter, Terms,
    cursor::LogCursor,
    dead_letter::Request,
    held::{Change, Failure},
    store::Store,
};
use sqlx::{Connection, PgConnection};

/// G7. The leader once removed the requests and then locked their dead letters, a person the other way round.
#[tokio::test]
async fn a_request_for_what_the_leader_acts_on_waits_in_no_circle() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    for key in ["a", "b"] {
        world.publish(key).await;
    }
    let page = log.read(100).await.unwrap();
    let failure = Failure { reason: "refused", error_chain: "refused".to_owned() };
    let dead = |index: usize| Change::Dead {
        envelope: page.events[index].envelope.clone(),
        attempts: 1,
        failure: failure.clone(),
        park: true,
    };
    log.settle(&world.fence, &all_of(&page), &[dead(0), dead(1)]).await.unwrap();
    let only_b = DeadLetterFilter { key: Some("b".to_owned()), ..DeadLetterFilter::default() };
    assert_eq!(
        world.store.request(&only_b, Request::Discard, &Terms::new("test", "mended")).await.unwrap(),
        1
    );

    // The leader is stopped in the middle of its work on the request, where it waits for the mark of the key.
    let mut other = PgConnection::connect(&world.url).await.unwrap();
    let mut watcher = PgConnection::connect(&world.url).await.unwrap();
    let mut tx = other.begin().await.unwrap();
    let lock = "SELECT count(*) FROM (SELECT FROM outbox_waiting FOR UPDATE) AS waiting";
    assert_eq!(sqlx::query_scalar::<_, i64>(lock).fetch_one(&mut *tx).await.unwrap(), 2);
    let leader = tokio::spawn({
        let (store, fence) = (world.store.clone(), world.fence.clone());
        async move { store.act_on_requests(&fence, 10).await }
    });
    until_waiting(&mut watcher, 1).await;
    let person = tokio::spawn({
        let store = world.store.clone();
        async move {
            store.request(&DeadLetterFilter::default(), Request::Discard, &Terms::new("test", "mended")).await
        }
    });
    // In the circle the person waits too; else the request is recorded.
    let recorded = "SELECT (SELECT count(*) FROM outbox_request) = 2 OR
                           (SELECT count(*) FROM pg_stat_activity
                             WHERE datname = current_database() AND wait_event_type = 'Lock') = 2";
    while !sqlx::query_scalar::<_, bool>(recorded).fetch_one(&mut watcher).await.unwrap() {}
    tx.rollback().await.unwrap();

    assert_eq!(person.await.unwrap().unwrap(), 1);
    assert_eq!(leader.await.unwrap().unwrap(), 1);
    assert_eq!(world.store.act_on_requests(&world.fence, 10).await.unwrap(), 1);
    assert_eq!(world.number("SELECT count(*) FROM outbox_dead_letter").await, 0);
}
