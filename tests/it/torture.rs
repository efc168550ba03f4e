//! Half a minute of torture on each pair of store and broker, and planted faults, each of which it must find.
//!
//! `cargo xtask torture` takes longer, by hand.

use std::process::{Command, Output};

/// Minutes in which things break; in all they are two.
const MINUTES: &str = "0.5";

/// Runs a torture, and shows what it said.
fn torture(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_torture")).args(arguments).output().unwrap();
    println!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    output
}

fn assert_promises_kept(store: &str, broker: &str) {
    let output = torture(&["--minutes", MINUTES, "--store", store, "--broker", broker]);
    assert!(output.status.success(), "a promise was broken on {store} and {broker}");
}

#[test]
fn postgres_and_nats_keep_every_promise() {
    assert_promises_kept("postgres", "nats");
}

#[test]
fn postgres_and_local_keep_every_promise() {
    assert_promises_kept("postgres", "local");
}

#[test]
fn sqlite_and_nats_keep_every_promise() {
    assert_promises_kept("sqlite", "nats");
}

#[test]
fn postgres_and_redis_keep_every_promise() {
    assert_promises_kept("postgres", "redis");
}

#[test]
fn sqlite_and_redis_keep_every_promise() {
    assert_promises_kept("sqlite", "redis");
}

#[test]
fn postgres_and_rabbitmq_keep_every_promise() {
    assert_promises_kept("postgres", "rabbitmq");
}

#[test]
fn sqlite_and_rabbitmq_keep_every_promise() {
    assert_promises_kept("sqlite", "rabbitmq");
}

#[test]
fn postgres_and_kafka_keep_every_promise() {
    assert_promises_kept("postgres", "kafka");
}

#[test]
fn sqlite_and_kafka_keep_every_promise() {
    assert_promises_kept("sqlite", "kafka");
}

#[test]
fn sqlite_and_local_keep_every_promise() {
    assert_promises_kept("sqlite", "local");
}

#[test]
fn every_plant_is_found() {
    let plants = [
        ("phantom", "G1"),
        ("loss", "G2"),
        ("inversion", "G3"),
        ("double", "G4"),
        ("blame", "G5"),
        ("gap", "G2"),
        ("again", "G4"),
    ];
    let found = |(plant, promise): (&str, &str)| {
        let pair = ["--store", "sqlite", "--broker", "local"];
        let output =
            torture(&[&["--minutes", "0.1", "--plant", plant, "--patience-secs", "5"], &pair[..]].concat());
        assert!(!output.status.success(), "{plant} was not found");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(&format!("{promise} is broken")), "{plant} was taken for something else");
        let kept = said.lines().find_map(|line| line.strip_prefix("the records and logs are in ")).unwrap();
        std::fs::remove_dir_all(kept).unwrap();
    };
    std::thread::scope(|scope| {
        plants.map(|plant| scope.spawn(move || found(plant))).map(|run| run.join().unwrap())
    });
}
