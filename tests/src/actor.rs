//! Starts processes that are there to be killed: the program `actor` of this package.

use crate::servers::Process;
use std::path::Path;
use std::process::Command;

/// Starts an actor: `program` is its path (`env!("CARGO_BIN_EXE_actor")` in a test), `arguments` say what it is.
#[must_use]
pub fn actor(program: &str, arguments: &[&str]) -> Process {
    let mut command = Command::new(Path::new(program));
    command.args(arguments);
    Process::spawn(&mut command).expect("the actor's program is built with the tests")
}
