//! `cargo xtask test`: every test of the repository, on real servers.

use crate::cargo::{cargo, root, status};
use crate::install;
use std::process::Command;

/// Installs the servers and runs all tests, or those whose name contains the filter.
///
/// # Errors
/// A test failed; or servers could not be installed where they are required (`CI=true`).
pub(crate) fn run(filter: &[String]) -> Result<(), String> {
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let has_servers = match install::servers() {
        Ok(()) => true,
        Err(error) if is_ci => return Err(error),
        Err(error) => {
            eprintln!("warning: {error}; tests of a missing server are skipped");
            false
        }
    };
    match install::tools() {
        Ok(_) => {}
        Err(error) if is_ci => return Err(error),
        Err(error) => eprintln!("warning: {error}; NATS is tested in the packaged version only"),
    }
    let nats = std::env::join_paths(install::nats_programs()).map_err(|error| error.to_string())?;
    let with_servers = |command: &mut Command| {
        command.args(filter).env("OUTBOX_NATS_SERVERS", &nats);
        command.envs(install::python().map(|python| ("OUTBOX_PYTHON", python)));
        if has_servers {
            command.env("OUTBOX_REQUIRE_SERVERS", "all");
        }
        status(command)
    };
    with_servers(&mut cargo(&["test", "--locked", "--workspace", "--all-features"]))?;
    // The macro cases are a package of their own, as trybuild builds its dependencies again; a broker of somebody else's is
    // one, as only so it has no more than the public documentation shows.
    for manifest in ["tests/ui/Cargo.toml", "tests/file-broker/Cargo.toml"] {
        if root().join(manifest).is_file() {
            with_servers(&mut cargo(&["test", "--locked", "--manifest-path", manifest]))?;
        }
    }
    Ok(())
}
