//! Logs of a command, on stderr.

use std::io;
use tracing_subscriber::{filter::LevelFilter, fmt};

/// Starts to write what is logged; where the program has a subscriber of its own already, that one stays.
///
/// No colours: what collects the logs of a relay is seldom a terminal.
pub(super) fn start() {
    let _ = fmt().with_max_level(LevelFilter::INFO).with_ansi(false).with_writer(io::stderr).try_init();
}
