//! Starts cargo, and other programs, in the root of the repository.

use std::path::Path;
use std::process::Command;

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package xtask lies in a folder of the root")
}

/// A cargo command in the root of the repository.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// The command that runs a binary of the package `outbox-tests`, built for release.
pub(crate) fn run_bin(name: &str, args: &[String]) -> Command {
    let mut command =
        cargo(&["run", "--locked", "--release", "--package", "outbox-tests", "--bin", name, "--"]);
    command.args(args);
    command
}

/// Runs `command`; anything but success is an error that says what was run.
pub(crate) fn status(command: &mut Command) -> Result<(), String> {
    eprintln!("> {}", shown(command));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` failed: {status}", shown(command))),
        Err(error) => Err(format!("`{}` could not be started: {error}", shown(command))),
    }
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
