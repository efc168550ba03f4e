//! The rules of consumers and their members: who gets what, and what one leaves to the next.

use super::{
    Suite, event, keys, keys_in, other_partition, partition_of_keys,
    reader::{Reader, ids, ids_of},
};
use crate::envelope::{EventId, NewEvent};

pub(super) async fn run(suite: &Suite<'_>) {
    each_consumer_gets_every_event(suite).await;
    a_late_consumer_gets_what_others_acked(suite).await;
    two_members_share_the_partitions(suite).await;
    what_a_crashed_consumer_held_comes_first(suite).await;
    a_member_that_leaves_has_acked_what_is_done_and_leaves_the_rest(suite).await;
    hand_over_after_hand_over_loses_nothing(suite).await;
}

async fn each_consumer_gets_every_event(suite: &Suite<'_>) {
    suite.rule("each of two consumers gets every event");
    let (topic, keys) = (suite.rig.fresh_topic(), keys(1));
    let events: Vec<_> = (0..10).map(|number| event(&topic, &keys[0], number)).collect();
    let mut one = Reader::open(suite, "billing.charge", &topic).await;
    let mut other = Reader::open(suite, "billing.report", &topic).await;
    suite.rig.put(&events).await;
    suite.assert_came(ids(&one.take_and_ack(10).await), ids_of(&events));
    suite.assert_came(ids(&other.take_and_ack(10).await), ids_of(&events));
}

async fn a_late_consumer_gets_what_others_acked(suite: &Suite<'_>) {
    const RULE: &str = "a new consumer gets from the start what others have acked";
    if !suite.rig.capabilities().replayable {
        return suite.cannot(RULE, "it does not declare so; replay from the log of the store");
    }
    suite.rule(RULE);
    let (topic, keys) = (suite.rig.fresh_topic(), keys(1));
    let events: Vec<_> = (0..10).map(|number| event(&topic, &keys[0], number)).collect();
    suite.rig.put(&events).await;
    let mut early = Reader::open(suite, "early", &topic).await;
    early.take_and_ack(10).await;
    early.close().await;
    let mut late = Reader::open(suite, "late", &topic).await;
    suite.assert_came(ids(&late.take_and_ack(10).await), ids_of(&events));
}

async fn two_members_share_the_partitions(suite: &Suite<'_>) {
    const RULE: &str = "two members of one consumer share its partitions: each event comes to one of them";
    if suite.rig.broker().is_none() {
        return suite.cannot(RULE, "a consumer is one share");
    }
    suite.rule(RULE);
    let topic = suite.topic_of("shared").await;
    let partitions = [partition_of_keys(), other_partition()];
    let [some, others] = partitions.clone().map(|partition| keys_in(&partition, 3));
    let of = |keys: &[String]| -> Vec<NewEvent> {
        (0..12).map(|number| event(&topic, &keys[number as usize % 3], number)).collect()
    };
    let (some, others) = (of(&some), of(&others));
    let mixed: Vec<NewEvent> = some.iter().zip(&others).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    suite.rig.put(&mixed).await;

    let mut one = Reader::member(suite, "shared", &topic, &partitions[0]).await;
    let mut other = Reader::member(suite, "shared", &topic, &partitions[1]).await;

    suite.assert_came(ids(&one.take_and_ack(some.len()).await), ids_of(&some));
    // What the other has not read yet would come here if the partitions were mixed.
    one.assert_silent().await;
    suite.assert_came(ids(&other.take_and_ack(others.len()).await), ids_of(&others));
    one.assert_silent().await;
    other.assert_silent().await;
}

async fn what_a_crashed_consumer_held_comes_first(suite: &Suite<'_>) {
    suite.rule("what a crashed consumer held comes again, before newer events of its key");
    let (topic, keys) = (suite.topic_of("crash").await, keys(2));
    let events: Vec<_> = (0..20).map(|number| event(&topic, &keys[number as usize % 2], number)).collect();
    suite.rig.put(&events).await;
    let mut crashed = Reader::open(suite, "crash", &topic).await;
    let held = crashed.take(8).await;
    crashed.ack(&held[..3]).await;
    drop(crashed);
    let newer = [event(&topic, &keys[0], 20), event(&topic, &keys[1], 21)];
    suite.rig.put(&newer).await;

    let missing: Vec<_> = events[3..].iter().chain(&newer).cloned().collect();
    let mut next = Reader::open(suite, "crash", &topic).await;
    let received = next.take_until_seen(&missing).await;
    // An ack may be lost with its process; what comes again may then be more than what had none.
    let repeated = received.len() - missing.len();
    assert!(repeated <= 3, "{repeated} acked events came again");
    suite.assert_came(ids(&received[repeated..]), ids_of(&missing));
}

async fn a_member_that_leaves_has_acked_what_is_done_and_leaves_the_rest(suite: &Suite<'_>) {
    suite.rule("a member that stops has acked what is done, and leaves exactly the rest to the next");
    let (topic, keys) = (suite.topic_of("leaving").await, keys(2));
    let events: Vec<_> = (0..10).map(|number| event(&topic, &keys[number as usize % 2], number)).collect();
    suite.rig.put(&events).await;
    let mut leaving = Reader::open(suite, "leaving", &topic).await;
    let received = leaving.take(6).await;
    leaving.ack(&received[..4]).await;
    leaving.close().await;

    let mut next = Reader::open(suite, "leaving", &topic).await;
    suite.assert_came(ids(&next.take_and_ack(6).await), ids_of(&events[4..]));
    next.assert_silent().await;
}

async fn hand_over_after_hand_over_loses_nothing(suite: &Suite<'_>) {
    suite.rule("members that come, crash and leave one after the other lose nothing and keep the order");
    let (topic, keys) = (suite.topic_of("relayed").await, keys(4));
    let events: Vec<_> = (0..48).map(|number| event(&topic, &keys[number as usize % 4], number)).collect();
    let mut came: Vec<EventId> = Vec::new();
    let mut note = |received: &[super::reader::Received]| {
        for id in ids(received) {
            if !came.contains(&id) {
                came.push(id);
            }
        }
    };
    for (member, new) in events.chunks(8).enumerate() {
        suite.rig.put(new).await;
        let mut reader = Reader::open(suite, "relayed", &topic).await;
        let received = reader.take(5).await;
        reader.ack(&received[..3]).await;
        note(&received[..3]);
        if member % 2 == 0 {
            reader.close().await;
        }
    }
    let mut last = Reader::open(suite, "relayed", &topic).await;
    note(&last.take_until_seen(&events[events.len() - 8..]).await);
    suite.assert_came(came, ids_of(&events));
}
