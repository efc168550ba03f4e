//! The rules of a server that is killed or hangs: what was confirmed is there, and everybody goes on by himself.

use super::{
    PATIENCE, Server, Suite, envelope, event, keys, publish, publish_until_confirmed,
    reader::{Reader, ids, ids_of},
};
use crate::{
    broker::{Broker, Outgoing, Published},
    envelope::{EventId, NewEvent},
};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use tokio::time::Instant;

/// How long a call may take while the server hangs: its time-out, on a busy machine.
const HANG_MAX: Duration = Duration::from_secs(30);
/// Batches that are published while the server is killed, and after which of them it is.
const BATCHES: usize = 60;
const KILLS: [usize; 2] = [15, 40];

pub(super) async fn run(suite: &Suite<'_>, server: &dyn Server) {
    if let Some(broker) = suite.rig.broker() {
        confirmed_is_durable(suite, broker, server).await;
        an_unreachable_server_is_transient_and_comes_back(suite, broker, server).await;
        a_server_killed_in_the_midst_of_publishing_loses_nothing(suite, broker, server).await;
        a_server_that_hangs_is_a_transient_failure(suite, broker, server).await;
    }
    a_subscription_outlives_its_server(suite, server).await;
}

async fn confirmed_is_durable(suite: &Suite<'_>, broker: &dyn Broker, server: &dyn Server) {
    suite.rule("what was confirmed outlives a SIGKILL of the server");
    let topic = suite.topic_of("durable").await;
    let events: Vec<_> = keys(20).iter().map(|key| event(&topic, key, 0)).collect();

    let published = publish(broker, &events).await;
    server.kill();
    server.restart().await;

    assert!(published.iter().all(|outcome| matches!(outcome, Published::Confirmed { duplicate: false })));
    let mut reader = Reader::open(suite, "durable", &topic).await;
    reader.take_until_seen(&events).await;
}

async fn an_unreachable_server_is_transient_and_comes_back(
    suite: &Suite<'_>,
    broker: &dyn Broker,
    server: &dyn Server,
) {
    suite.rule("a server that is away is a transient failure, and the same broker goes on when it is back");
    let (topic, keys) = (suite.topic_of("away").await, keys(1));
    let events = [event(&topic, &keys[0], 0)];
    // The rule before this one may have restarted the server just now.
    publish_until_confirmed(broker, &events).await;

    server.kill();
    assert_not_confirmed(broker, &events[0]).await;
    server.restart().await;

    publish_until_confirmed(broker, &events).await;
}

async fn a_server_killed_in_the_midst_of_publishing_loses_nothing(
    suite: &Suite<'_>,
    broker: &dyn Broker,
    server: &dyn Server,
) {
    suite.rule("a server that is killed in the midst of publishing loses nothing and keeps the order");
    let (topic, keys) = (suite.topic_of("midst").await, keys(4));
    let batches: Vec<Vec<NewEvent>> = (0..BATCHES)
        .map(|batch| keys.iter().map(|key| event(&topic, key, u32::try_from(batch).unwrap_or(0))).collect())
        .collect();
    let done = AtomicUsize::new(0);
    let publishing = async {
        for batch in &batches {
            publish_until_confirmed(broker, batch).await;
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    let killing = async {
        for after in KILLS {
            while done.load(Ordering::Relaxed) < after {
                tokio::task::yield_now().await;
            }
            server.kill();
            server.restart().await;
        }
    };
    futures_util::future::join(publishing, killing).await;

    let events: Vec<NewEvent> = batches.concat();
    let mut reader = Reader::open(suite, "midst", &topic).await;
    let came = ids(&reader.take_until_seen(&events).await);
    for key in &keys {
        let sent: Vec<EventId> =
            events.iter().filter(|event| event.key.as_ref() == Some(key)).map(|event| event.id).collect();
        let mut first_times: Vec<EventId> = Vec::new();
        for id in came.iter().filter(|id| sent.contains(id)) {
            if !first_times.contains(id) {
                first_times.push(*id);
            }
        }
        suite.assert_came(first_times, sent);
    }
}

async fn a_server_that_hangs_is_a_transient_failure(
    suite: &Suite<'_>,
    broker: &dyn Broker,
    server: &dyn Server,
) {
    suite.rule("a server that hangs is a transient failure in time, and all go on when it answers again");
    let (topic, keys) = (suite.topic_of("hanging").await, keys(1));
    let events = [event(&topic, &keys[0], 0), event(&topic, &keys[0], 1)];
    publish_until_confirmed(broker, &events[..1]).await;
    let mut reader = Reader::open(suite, "hanging", &topic).await;
    reader.take_and_ack(1).await;

    server.pause();
    let started = Instant::now();
    assert_not_confirmed(broker, &events[1]).await;
    reader.try_once().await;
    let elapsed = started.elapsed();
    server.resume();

    assert!(elapsed < HANG_MAX, "a hanging server was waited for {elapsed:?}");
    publish_until_confirmed(broker, &events[1..]).await;
    // Perhaps twice: the server may have found both tries when it went on. Perhaps the first again: its ack may be lost.
    let came = ids(&reader.take_until_seen(&events[1..]).await);
    assert!(came.iter().all(|id| ids_of(&events).contains(id)));
}

async fn assert_not_confirmed(broker: &dyn Broker, event: &NewEvent) {
    let started = Instant::now();
    let envelope = envelope(event, 0);
    let outgoing = [Outgoing { envelope: &envelope, message_id: event.id.0 }];
    match broker.publish(&outgoing).await {
        Err(error) => assert!(error.is_transient(), "{error:?}"),
        Ok(outcomes) => {
            assert!(
                matches!(&outcomes[0], Published::TryAgain(error) if error.is_transient()),
                "{outcomes:?}"
            );
        }
    }
    assert!(started.elapsed() < PATIENCE, "the failure took {:?}", started.elapsed());
}

async fn a_subscription_outlives_its_server(suite: &Suite<'_>, server: &dyn Server) {
    suite.rule("an open subscription goes on, in order, when its killed server is back");
    let (topic, keys) = (suite.topic_of("patient").await, keys(1));
    let events: Vec<_> = (0..20).map(|number| event(&topic, &keys[0], number)).collect();
    suite.rig.put(&events).await;
    let mut reader = Reader::open(suite, "patient", &topic).await;
    let before = reader.take_and_ack(5).await;
    let held = reader.take(5).await;

    server.kill();
    server.restart().await;

    // What was held may come again; what comes for the first time comes in order.
    let mut first_times = ids(&before);
    for received in held.into_iter().chain(reader.take_until_seen(&events[10..]).await) {
        if !first_times.contains(&received.event.id) {
            first_times.push(received.event.id);
        }
    }
    suite.assert_came(first_times, ids_of(&events));
}
