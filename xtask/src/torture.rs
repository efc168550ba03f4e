//! `cargo xtask torture`: installs the servers, and runs the program `torture` of the tests on them.

use crate::cargo::{run_bin, status};
use crate::install;

/// Tortures as the arguments say.
///
/// # Errors
/// A promise was broken, or the servers could not be installed.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    install::servers()?;
    let nats = std::env::join_paths(install::nats_programs()).map_err(|error| error.to_string())?;
    status(run_bin("torture", args).env("OUTBOX_NATS_SERVERS", nats).env("OUTBOX_REQUIRE_SERVERS", "all"))
}
