//! Private servers, worlds, histories and benches for the tests of `outbox`.
//!
//! A library of test code: a broken assumption ends the test, so it panics instead of returning errors.
#![expect(clippy::unwrap_used, reason = "a fault of a test or a measurement ends it")]

pub mod actor;
pub mod bench;
pub mod cutover;
pub mod dying_broker;
pub mod file_broker;
pub mod history;
pub mod memory_broker;
mod pass_on;
pub mod programs;
pub mod proxy;
pub mod receiver;
pub mod selective_broker;
pub mod servers;
pub mod sim;
pub mod torture;
pub mod warnings;
pub mod world;

/// Ends this process as a crash would: by SIGKILL, at once.
pub fn kill_this_process() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    loop {
        std::thread::park();
    }
}
