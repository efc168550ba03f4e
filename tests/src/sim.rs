//! Deterministic simulation: the real loops of relays and consumers against a simulated database and broker.
//!
//! A seed decides everything: who goes on next, which message is lost, who is killed. Time is virtual, so a minute of waits
//! takes a moment, and the same seed tells the same history. At the end the history is held against the promises.
//!
//! ```text
//!   producers ──▶ database (snapshots, locks, sequence, crashes) ◀── store ◀── relay, consumers: the real code
//!                     nemesis: kills, pauses, crashes, cuts                       │
//!                                                        broker (loses, repeats) ◀┘
//! ```
//! That it can find faults is shown by [`Mutation`]s: mistakes in the model that each must be found.

mod broker;
mod chance;
mod client;
mod database;
mod event;
mod executor;
mod handler;
mod mutation;
mod nemesis;
mod producer;
mod scenario;
mod server;
mod store;
mod verdict;
mod worker;
mod world;

pub use mutation::Mutation;

use executor::Process;
use outbox_runtime::simulation::{seed_chance, set_boot_time};
use std::sync::{Arc, Mutex};
use tokio::task::unconstrained;
use world::World;

/// Plays the history of a seed. With `tells`, prints what happens.
///
/// # Errors
/// Which promise was broken, and how.
pub fn simulate(seed: u64, mutation: Mutation, tells: bool) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    seed_chance(Some(seed));
    let verdict = runtime.expect("a runtime without I/O can be made").block_on(unconstrained(async {
        let world = Arc::new(World::new(seed, mutation, tells));
        let verdict = Arc::new(Mutex::new(None));
        let (played, playing) = (Arc::clone(&verdict), scenario::play(Arc::clone(&world)));
        world.schedule.spawn(Process::OUTSIDE, async move {
            *played.lock().unwrap() = Some(playing.await);
        });
        executor::run(&world, || world.breached().map(Err).or_else(|| verdict.lock().unwrap().take())).await
    }));
    seed_chance(None);
    set_boot_time(None);
    verdict
}
