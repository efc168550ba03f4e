//! A consumer of a newer version takes the older ones too, each made into what its handler knows.

use outbox::dead_letter::{DeadLetterFilter, Terms};
use outbox::{ConsumedEvent, EncodedEvent, Event, EventSet, IntoDraft};
use outbox_tests::on_each_store;
use outbox_tests::servers::Nats;
use outbox_tests::world::{Moved, MovedV1, MovedV2, TestStore, World, eventually, nats_broker, numbers_of};

on_each_store! {
    a_consumer_takes_every_version_that_leads_to_its_own,
    a_dead_letter_of_an_older_version_is_replayed_as_the_one_the_handler_takes,
}

fn first(metres: i64) -> MovedV1 {
    MovedV1 { key: "cart".to_owned(), metres }
}

fn second(centimetres: i64) -> MovedV2 {
    MovedV2 { key: "cart".to_owned(), centimetres }
}

fn third(millimetres: i64) -> Moved {
    Moved { key: "cart".to_owned(), millimetres }
}

async fn tell<S: TestStore>(world: &World<S>, event: impl IntoDraft) {
    let mut tx = world.outbox.begin().await.unwrap();
    world.outbox.enqueue(&mut tx, event).await.unwrap();
    tx.commit().await.unwrap();
}

async fn a_consumer_takes_every_version_that_leads_to_its_own<S: TestStore>() {
    let (Some(world), Some(nats)) = (World::<S>::start().await, Nats::private().await) else { return };
    tell(&world, &first(1)).await;
    tell(&world, &third(1_001)).await;
    tell(&world, &second(101)).await;
    tell(&world, &first(2)).await;
    let expected = [1_000, 1_001, 1_010, 2_000];

    let local = world.follower().consume_locally().start().await.unwrap();
    assert_eq!(numbers_of(&world.effects_of(4).await, "cart"), expected);
    local.stop().await.unwrap();

    let away = World::<S>::start().await.unwrap();
    let relay = world.relay(nats_broker(&nats.url(), None)).await;
    let remote = away.follower().consume_from(nats_broker(&nats.url(), None)).start().await.unwrap();
    assert_eq!(numbers_of(&away.effects_of(4).await, "cart"), expected);
    remote.stop().await.unwrap();
    relay.stop().await.unwrap();
}

async fn a_dead_letter_of_an_older_version_is_replayed_as_the_one_the_handler_takes<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    tell(&world, &first(-3)).await;
    tell(&world, &first(4)).await;
    let consumer = world.follower().consume_locally().start().await.unwrap();
    let dead = async || world.outbox.dead_letters(&DeadLetterFilter::default(), 10).await.unwrap();
    eventually("the event is set aside", async || !dead().await.is_empty()).await;
    let letter = &dead().await[0];
    assert_eq!((letter.envelope.event_version, &*letter.reason), (1, "handler-error"));

    world.mend();
    assert_eq!(
        world.outbox.replay(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap(),
        1
    );

    assert_eq!(numbers_of(&world.effects_of(2).await, "cart"), [-3_000, 4_000]);
    consumer.stop().await.unwrap();
    assert!(dead().await.is_empty());
}

#[derive(EventSet)]
#[expect(dead_code, reason = "only which variant it is matters")]
enum Any {
    Newest(Moved),
    Second(MovedV2),
}

#[derive(EventSet)]
#[expect(dead_code, reason = "only which variant it is matters")]
enum Older {
    Second(MovedV2),
    First(MovedV1),
    Newest(Moved),
}

fn taken<E: EventSet>() -> Vec<(u32, Option<u32>)> {
    E::events().into_iter().map(|event: ConsumedEvent| (event.event_version, event.upcast_to)).collect()
}

fn decoded<E: EventSet>(event_version: u32, payload: &str) -> E {
    let event = EncodedEvent { event_type: Moved::TYPE, event_version, payload };
    E::decode(&event).unwrap().unwrap()
}

#[test]
fn a_set_takes_each_version_once_and_as_the_nearest_of_its_variants() {
    assert_eq!(taken::<Moved>(), [(3, None), (2, Some(3)), (1, Some(3))]);
    assert_eq!(taken::<Any>(), [(3, None), (2, None), (1, Some(2))]);
    assert_eq!(taken::<Older>(), [(2, None), (1, None), (3, None)]);

    let (one, two) = (r#"{"key":"cart","metres":1}"#, r#"{"key":"cart","centimetres":1}"#);
    assert!(matches!(decoded(1, one), Any::Second(MovedV2 { centimetres: 100, .. })));
    assert!(matches!(decoded(2, two), Any::Second(_)));
    assert!(matches!(decoded(1, one), Older::First(_)));
    assert!(matches!(decoded(2, two), Older::Second(_)));
    assert!(matches!(decoded(2, two), Moved { millimetres: 10, .. }));
}

#[test]
fn a_payload_that_is_not_the_older_version_is_refused_by_the_name_of_that_version() {
    let event = EncodedEvent { event_type: Moved::TYPE, event_version: 1, payload: "{}" };

    let error = <Moved as EventSet>::decode(&event).unwrap().unwrap_err();

    assert!(error.to_string().contains("`world.moved` version 1"), "{error}");
}
