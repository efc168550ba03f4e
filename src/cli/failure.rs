//! Why a command ended without success, and what a person then reads.

use super::{address::Address, output::inert};
use crate::{RunError, StoreError, broker::BrokerError};
use std::{error::Error, io, process::ExitCode};

/// The exit code of wrong usage.
pub(super) const USAGE: u8 = 2;

/// Why a command did not succeed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    Usage(String),
    #[error("the reader of the output went away")]
    ClosedPipe,
    #[error("the output could not be written; free some space or write elsewhere")]
    Output(#[source] io::Error),
    #[error("no threads could be started; raise the limits of this account")]
    Runtime(#[source] io::Error),
    #[error("the database `{address}` could not be opened")]
    Open {
        address: Address,
        #[source]
        source: Box<StoreError>,
    },
    #[error(
        "the file of `{address}` does not exist; correct the address, or create it with `outbox migrate`"
    )]
    FileMissing { address: Address },
    #[error("the database `{address}` cannot be used")]
    Store {
        address: Address,
        #[source]
        source: Box<StoreError>,
    },
    #[error("the broker `{address}` cannot be used")]
    Broker {
        address: Address,
        #[source]
        source: Box<BrokerError>,
    },
    #[error("the relay `{name}` could not work")]
    Relay {
        name: String,
        #[source]
        source: Box<RunError>,
    },
    #[error("the tables could not be kept up")]
    Upkeep {
        #[source]
        source: Box<RunError>,
    },
    #[error("{0}")]
    NoMatch(String),
}

impl Failure {
    /// A failure to write: that the reader went away is an end of its own.
    pub(super) fn output(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Output(error),
        }
    }

    /// Tells a person and gives the exit code.
    pub(super) fn report(&self) -> ExitCode {
        if matches!(self, Self::ClosedPipe) {
            return ExitCode::SUCCESS;
        }
        // Not `eprintln!`, which panics when nobody reads stderr.
        let _ = io::Write::write_all(&mut io::stderr(), self.text().as_bytes());
        match self {
            Self::Usage(_) => ExitCode::from(USAGE),
            _ => ExitCode::FAILURE,
        }
    }

    /// The error and its causes, a line each; a cause that the line above ends with is not repeated.
    fn text(&self) -> String {
        let mut lines = vec![self.to_string()];
        let mut cause = self.source();
        while let Some(error) = cause {
            let line = error.to_string();
            if !lines.last().is_some_and(|last| last.ends_with(&line)) {
                lines.push(line);
            }
            cause = error.source();
        }
        let lines: Vec<_> = lines.iter().map(|line| inert(line)).collect();
        format!("error: {}\n", lines.join("\n  because: "))
    }
}
