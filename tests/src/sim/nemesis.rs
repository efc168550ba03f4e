//! Those who break things, until it is to be calm.

use super::broker::Exchange;
use super::client::Client;
use super::event::name_of;
use super::executor::Process;
use super::server;
use super::store::SimStore;
use super::worker::Worker;
use super::world::World;
use crate::history::Fate;
use outbox::dead_letter::{DeadLetterFilter, Request, Terms};
use outbox::{Store, StoreError};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How long the database lets a transaction of a paused process stand.
const IDLE_MAX: Duration = Duration::from_secs(3);

/// Starts all of them.
pub(super) fn start(world: &Arc<World>, exchange: &Arc<Exchange>) {
    let spawn = |task| world.schedule.spawn(Process::OUTSIDE, task);
    spawn(Box::pin(flush(Arc::clone(world))) as super::executor::Task);
    for _ in 0..2 {
        let worker = Worker::start(world, exchange);
        spawn(Box::pin(torment(Arc::clone(world), Arc::clone(exchange), worker)));
    }
    if world.in_1000(350) {
        spawn(Box::pin(crash_database(Arc::clone(world))));
    }
    if world.in_1000(300) {
        spawn(Box::pin(take_broker_down(Arc::clone(world), Arc::clone(exchange))));
    }
    if world.in_1000(500) {
        spawn(Box::pin(write_elsewhere(Arc::clone(world))));
    }
    if world.in_1000(500) {
        spawn(Box::pin(ask(Arc::clone(world))));
    }
}

/// Makes commits durable that did not wait for it, as the database does by itself.
async fn flush(world: Arc<World>) {
    loop {
        sleep(Duration::from_millis(400)).await;
        world.database().flush();
    }
}

/// Pauses a worker, kills it, or stops it and starts another.
async fn torment(world: Arc<World>, exchange: Arc<Exchange>, mut worker: Worker) {
    loop {
        sleep(world.millis(300..3_500)).await;
        if world.is_calm() {
            return;
        }
        match world.below(100) {
            0..45 => pause(&world, worker.process).await,
            45..75 => {
                world.tell(|| format!("{:?} is killed", worker.process));
                world.schedule.kill(worker.process);
                sleep(world.millis(50..2_500)).await;
                worker = Worker::start(&world, &exchange);
            }
            75..90 => {
                worker.stop();
                sleep(world.millis(500..3_000)).await;
                world.schedule.kill(worker.process);
                worker = Worker::start(&world, &exchange);
            }
            _ => {}
        }
    }
}

async fn pause(world: &Arc<World>, process: Process) {
    let span = world.millis(50..7_000);
    world.tell(|| format!("{process:?} is paused for {span:?}"));
    world.schedule.pause(process);
    sleep(span.min(IDLE_MAX)).await;
    if span > IDLE_MAX {
        let idle: Vec<_> = {
            let database = world.database();
            let of_process = database.txs.open.iter().filter(|(_, open)| open.process == process);
            of_process.map(|(tx, _)| *tx).collect()
        };
        idle.into_iter().for_each(|tx| server::roll_back(world, tx));
        sleep(span - IDLE_MAX).await;
    }
    world.was_paused(process, span);
    world.schedule.resume(process);
}

async fn crash_database(world: Arc<World>) {
    sleep(world.millis(300..5_000)).await;
    world.crash_database();
    sleep(world.millis(20..2_000)).await;
    world.start_database();
}

async fn take_broker_down(world: Arc<World>, exchange: Arc<Exchange>) {
    sleep(world.millis(200..4_000)).await;
    exchange.set_down(true);
    sleep(world.millis(50..2_500)).await;
    exchange.set_down(false);
}

/// An unrelated transaction that writes for long, so that the lowest open transaction id stands still.
async fn write_elsewhere(world: Arc<World>) {
    sleep(world.millis(0..2_000)).await;
    let tx = hold_back(&world);
    sleep(world.millis(1_000..6_000)).await;
    server::roll_back(&world, tx);
}

/// Begins a transaction that has an id and does nothing.
pub(super) fn hold_back(world: &World) -> super::database::TxId {
    let mut database = world.database();
    let tx = database.txs.begin(Process::OUTSIDE, true);
    database.txs.xid_of(tx);
    tx
}

/// A person asks for replays and discards while everything goes on.
async fn ask(world: Arc<World>) {
    while !world.is_calm() {
        sleep(world.millis(50..800)).await;
        let request = if world.in_1000(600) { Request::Replay } else { Request::Discard };
        // Who is not answered asks again, or not.
        let _ = ask_once(&world, request, false).await;
    }
}

/// Asks the same of every dead letter, or of some.
pub(super) async fn ask_once(world: &Arc<World>, request: Request, of_all: bool) -> Result<(), StoreError> {
    let store = SimStore::new(Client { world: Arc::clone(world), process: Process::OUTSIDE });
    let mut letters = store.dead_letters(&DeadLetterFilter::default(), 1_000).await?;
    letters.retain(|_| of_all || world.in_1000(400));
    if letters.is_empty() {
        return Ok(());
    }
    let fate = if request == Request::Replay { Fate::Replayed } else { Fate::Discarded };
    for letter in &letters {
        world.record(fate.of(letter.stage.as_str(), &name_of(&letter.envelope)));
    }
    let ids = letters.iter().map(|letter| letter.id).collect();
    let filter = DeadLetterFilter { ids, ..DeadLetterFilter::default() };
    store.request(&filter, request, &Terms::new("nemesis", "somebody asks")).await.map(|_| ())
}
