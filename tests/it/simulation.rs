//! Thousands of simulated histories keep the promises, and each planted mistake is found in one of them.
//!
//! `OUTBOX_SIM_SEEDS` sets how many histories are played, `OUTBOX_SIM_FROM` the first seed. A seed that fails is printed;
//! `cargo run -p outbox-tests --bin simulate -- --from SEED --tell` tells its history.

use outbox_tests::sim::{Mutation, simulate};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

const SEEDS: u64 = 2_000;

/// In how many histories a mistake must show. Few of them show the rarest, and each change of a step's timing makes others
/// of all.
const MISTAKE_SEEDS: u64 = 6_000;

/// How many histories are played at once.
const THREADS: usize = 2;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// The first failure that is met among these seeds.
fn first_failure(mutation: Mutation, from: u64, seeds: u64) -> Option<(u64, String)> {
    let next = AtomicU64::new(from);
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while failure.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed >= from + seeds {
                        break;
                    }
                    if let Err(problem) = simulate(seed, mutation, false) {
                        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((seed, problem));
                    }
                }
            });
        }
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn every_history_keeps_the_promises() {
    let (from, seeds) = (number("OUTBOX_SIM_FROM", 0), number("OUTBOX_SIM_SEEDS", SEEDS));
    if let Some((seed, problem)) = first_failure(Mutation::None, from, seeds) {
        panic!("seed {seed}: {problem}");
    }
}

#[test]
fn every_mistake_is_found() {
    let mut missed = Vec::new();
    for mutation in Mutation::ALL {
        match first_failure(mutation, mutation.first_seed(), MISTAKE_SEEDS) {
            Some((seed, problem)) => {
                println!("{mutation:?}: seed {seed}: {}", problem.lines().next().unwrap_or_default());
            }
            None => missed.push(mutation),
        }
    }
    assert!(missed.is_empty(), "not found in {MISTAKE_SEEDS} histories: {missed:?}");
}

#[test]
fn a_seed_tells_the_same_history_each_time() {
    let tell = || simulate(7, Mutation::SettledFromSequence, false);
    assert_eq!(tell(), tell());
}
