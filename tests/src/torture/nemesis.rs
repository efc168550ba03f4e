//! Those who break things, until it is to be calm.

use super::TAKEOVER;
use super::actor::Role;
use super::arena::Arena;
use super::store::TortureStore;
use super::{person, poison, ranges};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Starts all of them; each ends by itself when it is to be calm, and leaves nothing broken behind.
pub(super) fn start<S: TortureStore>(arena: &Arc<Arena<S>>, tasks: &mut JoinSet<()>) {
    let mut number = 0;
    let mut chance = || {
        number += 1;
        StdRng::seed_from_u64(arena.options.seed.wrapping_mul(31).wrapping_add(number))
    };
    tasks.spawn(torment_processes(Arc::clone(arena), chance()));
    tasks.spawn(torment_connections(Arc::clone(arena), chance()));
    tasks.spawn(slow_database(Arc::clone(arena), chance()));
    tasks.spawn(kill_broker(Arc::clone(arena), chance()));
    tasks.spawn(kill_database(Arc::clone(arena), chance()));
    tasks.spawn(hold_transactions(Arc::clone(arena), chance()));
    tasks.spawn(let_the_clock_jump(Arc::clone(arena), chance()));
    tasks.spawn(scale(Arc::clone(arena), chance()));
    tasks.spawn(poison::deadly(Arc::clone(arena), chance()));
    tasks.spawn(poison::foreign(Arc::clone(arena), chance()));
    tasks.spawn(person::work(Arc::clone(arena), chance()));
    tasks.spawn(ranges::replay(Arc::clone(arena), chance()));
}

fn between(chance: &mut StdRng, least: f64, most: f64) -> Duration {
    Duration::from_secs_f64(chance.random_range(least..most))
}

/// Kills a process, or lets it stand still for as long as another needs to take over, or sends it away.
async fn torment_processes<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    while arena.rest(between(&mut chance, 0.5, 3.0)).await {
        let mut crew = arena.crew.lock().await;
        let Some(member) = crew.any(&mut chance) else { continue };
        match chance.random_range(0..100) {
            0..45 => {
                arena.tell("SIGKILL", &member.name);
                member.kill();
            }
            45..90 => {
                arena.tell("SIGSTOP", &member.name);
                member.pause();
                let number = member.number;
                drop(crew);
                let is_long = chance.random_ratio(2, 3);
                let least = if is_long { TAKEOVER.as_secs_f64() } else { 0.05 };
                arena.rest(between(&mut chance, least, least + 1.5)).await;
                if let Some(member) = arena.crew.lock().await.get(number) {
                    member.resume();
                }
            }
            _ => {
                arena.tell("SIGTERM", &member.name);
                member.send_away();
            }
        }
    }
}

/// Cuts, stalls or slows the connections of a process.
async fn torment_connections<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    while arena.rest(between(&mut chance, 0.5, 3.0)).await {
        let mut crew = arena.crew.lock().await;
        let Some(member) = crew.any(&mut chance) else { continue };
        if member.way.proxies.is_empty() {
            return;
        }
        let (number, which) = (member.number, chance.random_range(0..member.way.proxies.len()));
        let proxy = &member.way.proxies[which];
        match chance.random_range(0..3) {
            0 => {
                arena.tell("connection cut", &member.name);
                proxy.cut();
            }
            1 => {
                arena.tell("connection stalled", &member.name);
                proxy.stall();
            }
            _ => {
                arena.tell("connection slowed", &member.name);
                proxy.delay(between(&mut chance, 0.005, 0.15));
            }
        }
        drop(crew);
        arena.rest(between(&mut chance, 0.2, 5.0)).await;
        if let Some(member) = arena.crew.lock().await.get(number) {
            member.way.proxies[which].resume();
        }
    }
}

/// Lets every connection to the database be as slow as one to another continent.
async fn slow_database<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    while arena.ground.postgres.is_some() && arena.rest(between(&mut chance, 8.0, 30.0)).await {
        let pause = between(&mut chance, 0.02, 0.1);
        arena.tell("database slow", "all");
        let until = Instant::now() + between(&mut chance, 3.0, 8.0);
        // Also for those who come meanwhile.
        while Instant::now() < until && arena.rest(Duration::from_millis(100)).await {
            arena.crew.lock().await.all().for_each(|member| member.way.proxies[0].delay(pause));
        }
        arena.crew.lock().await.all().for_each(|member| member.way.proxies[0].resume());
    }
}

async fn kill_broker<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    let Some(broker) = &arena.ground.broker else { return };
    while arena.rest(between(&mut chance, 6.0, 20.0)).await {
        arena.tell("broker killed", broker.name());
        broker.kill();
        arena.rest(between(&mut chance, 0.0, 2.5)).await;
        broker.restart().await;
    }
}

async fn kill_database<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    let Some(postgres) = &arena.ground.postgres else { return };
    while arena.rest(between(&mut chance, 6.0, 20.0)).await {
        arena.tell("database killed", "postgres");
        postgres.kill();
        arena.rest(between(&mut chance, 0.0, 2.5)).await;
        postgres.restart().await;
    }
}

/// Holds transactions that have nothing to do with the outbox, or the lock of one of its keys.
async fn hold_transactions<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    while arena.rest(between(&mut chance, 1.0, 6.0)).await {
        let hold = &S::HOLDS[chance.random_range(0..S::HOLDS.len())];
        arena.tell(hold.name, "another session");
        let rest = arena.rest(between(&mut chance, 0.1, hold.secs_max));
        // The database may be killed meanwhile.
        let _ = arena.outbox.store().hold(hold.statements, rest).await;
    }
}

/// Lets all leases run out at once, or last for an hour, as when the database's clock is set.
async fn let_the_clock_jump<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    while arena.rest(between(&mut chance, 8.0, 40.0)).await {
        let is_back = chance.random_ratio(1, 3);
        arena.tell(if is_back { "clock set back" } else { "clock set forth" }, "the database");
        let _ = arena.outbox.store().move_leases(if is_back { 3_600 } else { -3_600 }).await;
    }
}

/// From one process of a role to five and back.
async fn scale<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    while arena.rest(between(&mut chance, 6.0, 25.0)).await {
        let role = if chance.random_ratio(1, 2) { Role::Relay } else { Role::Consumer };
        for count in [1, 5, 1, 2] {
            arena.tell("scaling", &format!("{role:?} to {count}"));
            arena.crew.lock().await.want(role, count);
            arena.rest(between(&mut chance, 1.0, 4.0)).await;
        }
    }
}
