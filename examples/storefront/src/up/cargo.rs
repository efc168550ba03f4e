//! Cargo, called by a program that cargo itself may have started.

use std::{ffi::OsString, path::Path};
use tokio::process::Command;

/// The cargo that runs this program; none, if it was started by itself.
pub(crate) fn around() -> Option<OsString> {
    std::env::var_os("CARGO")
}

/// A command of cargo in the folder of this package.
pub(crate) fn command(cargo: OsString) -> Command {
    let mut command = Command::new(cargo);
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
    // What cargo told this program of its package would make build scripts run, and much be built, once more.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|own| name.to_string_lossy().starts_with(own)) {
            command.env_remove(name);
        }
    }
    command
}
