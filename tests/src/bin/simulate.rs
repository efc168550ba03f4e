//! Plays seeds of the simulation by hand: `simulate [--from SEED] [--seeds N] [--mutation NAME] [--tell]`.
#![expect(clippy::unwrap_used, reason = "a fault of a test or a measurement ends it")]

use outbox_tests::sim::{Mutation, simulate};
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let from: u64 = value("--from").map_or(0, |text| text.parse().unwrap());
    let seeds: u64 = value("--seeds").map_or(1, |text| text.parse().unwrap());
    let name = value("--mutation").unwrap_or_else(|| "None".to_owned());
    let tells = arguments.iter().any(|argument| argument == "--tell");
    let began = Instant::now();
    for mutation in [Mutation::None].into_iter().chain(Mutation::ALL) {
        if name != "All" && format!("{mutation:?}") != name {
            continue;
        }
        let found =
            (from..from + seeds).find_map(|seed| Some((seed, simulate(seed, mutation, tells).err()?)));
        match found {
            Some((seed, problem)) => {
                println!("{mutation:?}: seed {seed} after {:?}: {problem}", began.elapsed())
            }
            None => println!("{mutation:?}: {seeds} seeds in {:?} kept the promises", began.elapsed()),
        }
    }
}
