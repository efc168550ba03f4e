//! The programs of this repository, built as users would run them: the command line and the examples.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What one build makes. All features of the whole workspace: then a run of all tests has built every part already.
const BUILD: [&str; 12] = [
    "build",
    "--locked",
    "--workspace",
    "--all-features",
    "--message-format=json",
    "--quiet",
    "--bin=outbox",
    "--bin=github-events",
    "--bin=storefront",
    "--bin=storefront-v1",
    "--bin=storefront-v2",
    "--example=quickstart",
];

/// The command line `outbox`.
#[must_use]
pub fn outbox() -> Command {
    program("outbox")
}

/// The example `quickstart`.
#[must_use]
pub fn quickstart() -> Command {
    program("quickstart")
}

/// The example `github-events`.
#[must_use]
pub fn github_events() -> Command {
    program("github-events")
}

/// The example `storefront`, whose services stand beside it: without cargo it builds nothing.
#[must_use]
pub fn storefront() -> Command {
    let mut command = program("storefront");
    command.env_remove("CARGO");
    command
}

/// A command that starts the program of that name, without any address of the surroundings.
fn program(name: &str) -> Command {
    static BUILT: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(build);
    let path = built.iter().find(|path| path.file_stem().is_some_and(|stem| stem == name));
    let mut command = Command::new(path.unwrap_or_else(|| panic!("cargo built no program `{name}`")));
    let own = ["OUTBOX_DATABASE_URL", "OUTBOX_BROKER_URL", "OUTBOX_DEAD_LETTER_WEBHOOK"];
    for address in own.into_iter().chain(["DATABASE_URL", "BROKER_URL", "NATS_URL"]) {
        command.env_remove(address);
    }
    command.stdin(Stdio::null());
    command
}

fn build() -> Vec<PathBuf> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in a folder of the root");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo told this test of its own package would make build scripts run, and much be built, once more.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|own| name.to_string_lossy().starts_with(own)) {
            cargo.env_remove(name);
        }
    }
    let built =
        cargo.args(BUILD).current_dir(root).stderr(Stdio::inherit()).output().expect("cargo can be started");
    assert!(built.status.success(), "the programs do not build");
    let messages = String::from_utf8(built.stdout).expect("cargo's messages are text");
    messages.lines().filter_map(executable).collect()
}

/// The path of the executable that one message of cargo names. Such a path has no characters that JSON escapes.
fn executable(message: &str) -> Option<PathBuf> {
    let (_, path) = message.split_once(r#""executable":""#)?;
    Some(path.split_once('"')?.0.into())
}
