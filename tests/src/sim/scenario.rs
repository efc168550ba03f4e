//! One history from beginning to end: first things break, then they do not, and everything must settle.

use super::broker::Exchange;
use super::client::Client;
use super::database::{Database, View};
use super::event::SHARED;
use super::executor::Process;
use super::nemesis;
use super::producer::Producer;
use super::server;
use super::store::progress;
use super::verdict;
use super::worker::{LOCAL_CONSUMER, RELAY};
use super::world::World;
use outbox::dead_letter::Request;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

const PRODUCERS: u64 = 3;

/// How long things break at least.
const TROUBLE: Duration = Duration::from_secs(5);
/// How long everything may take to settle once nothing breaks: a take-over, the longest pauses of the loops, and the wait of
/// events that no attempt was charged for.
const SETTLING_MAX: Duration = Duration::from_secs(120);
/// How often it is looked whether everything has settled.
const LOOK: Duration = Duration::from_millis(500);

/// Plays it.
///
/// # Errors
/// The promise or the rule that was broken.
pub(super) async fn play(world: Arc<World>) -> Result<(), String> {
    let exchange = Exchange::new(&world);
    nemesis::start(&world, &exchange);
    for _ in 0..PRODUCERS {
        let client = Client { world: Arc::clone(&world), process: world.next_process() };
        let producer = Producer { client, transactions: 3 + world.below(4) };
        world.schedule.spawn(Process::OUTSIDE, producer.work());
    }
    sleep(TROUBLE).await;
    while world.done_producers() < PRODUCERS || world.database_is_down() {
        sleep(LOOK).await;
    }
    world.calm_down();
    let held_back = nemesis::hold_back(&world);
    until("holes over rows that are there are gone", &world, holes_are_real).await?;
    server::roll_back(&world, held_back);
    settle(&world, &exchange).await?;
    world.mend();
    if world.in_1000(700) {
        let request = if world.in_1000(800) { Request::Replay } else { Request::Discard };
        // A transaction whose end the server has not noticed yet may be in the way.
        while nemesis::ask_once(&world, request, true).await.is_err() {
            sleep(LOOK).await;
        }
        settle(&world, &exchange).await?;
    }
    if world.in_1000(300) {
        forget_holes(&world, &exchange).await?;
    }
    verdict::decide(&world)
}

/// Holes are proven dead with the next settles, and forgotten with those behind.
async fn forget_holes(world: &Arc<World>, exchange: &Exchange) -> Result<(), String> {
    for _ in 0..4 {
        sleep(Duration::from_millis(1_500)).await;
        let client = Client { world: Arc::clone(world), process: Process::OUTSIDE };
        Producer { client, transactions: 1 }.say_something().await.map_err(|error| error.to_string())?;
    }
    settle(world, exchange).await?;
    let are_gone = |database: &Database| recorded_holes(database).is_empty();
    if are_gone(&world.database()) {
        return Ok(());
    }
    Err(format!("holes are left though nobody fills them\n{}", verdict::state_of(world)))
}

/// Waits until every event is where it stays.
async fn settle(world: &World, exchange: &Exchange) -> Result<(), String> {
    let settled = until("everything has settled", world, |database| {
        is_settled(database) && exchange.is_drained("mail", SHARED)
    });
    settled.await.map_err(|problem| format!("{problem}  not acked: {:?}", exchange.undone("mail", SHARED)))
}

async fn until(what: &str, world: &World, is_true: impl Fn(&Database) -> bool) -> Result<(), String> {
    let deadline = world.now() + SETTLING_MAX;
    while !is_true(&world.database()) {
        if world.now() > deadline {
            return Err(format!(
                "waited {SETTLING_MAX:?} in vain until {what}\n{}",
                verdict::state_of(world)
            ));
        }
        sleep(LOOK).await;
    }
    Ok(())
}

/// Each stage has read all that is committed, holds nothing but with a mark, and lets no key wait but for a person.
fn is_settled(database: &Database) -> bool {
    let snapshot = database.txs.snapshot();
    let view = View { txs: &database.txs, snapshot: &snapshot, own: None };
    let tables = &database.tables;
    let last = tables.log.iter(&view).map(|(seq, _)| *seq).next_back();
    let is_read = |stage: &&str| {
        let newest = progress::newest(tables, &view, stage);
        last.is_none() || newest.is_some_and(|(_, row)| Some(row.settled) >= last)
    };
    [RELAY, LOCAL_CONSUMER].iter().all(is_read)
        && holes_are_real(database)
        && tables.waiting.iter(&view).all(|(_, mark)| mark.due_at.is_none())
        && tables
            .held
            .iter(&view)
            .all(|((stage, lane, ..), _)| tables.waiting.get(&view, &(stage.clone(), lane.clone())).is_some())
        && tables.request.iter(&view).next().is_none()
}

/// No stage records a hole where a row has been committed, though an unrelated transaction stays open.
fn holes_are_real(database: &Database) -> bool {
    let snapshot = database.txs.snapshot();
    let view = View { txs: &database.txs, snapshot: &snapshot, own: None };
    let is_real = |(first, last)| database.tables.log.range(&view, first..=last).next().is_none();
    recorded_holes(database).into_iter().all(is_real)
}

/// The holes of all stages, first to last.
fn recorded_holes(database: &Database) -> Vec<(i64, i64)> {
    let snapshot = database.txs.snapshot();
    let view = View { txs: &database.txs, snapshot: &snapshot, own: None };
    let of_stage = |stage: &&str| {
        let newest = progress::newest(&database.tables, &view, stage);
        let inline = newest.map(|(_, row)| row.inline.clone()).unwrap_or_default();
        let mut holes: Vec<_> = inline.as_chunks::<2>().0.iter().map(|range| (range[0], range[1])).collect();
        holes.extend(progress::holes(&database.tables, &view, stage));
        holes
    };
    [RELAY, LOCAL_CONSUMER].iter().flat_map(of_stage).collect()
}
