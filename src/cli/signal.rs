//! Waiting to be told to stop.

use super::failure::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask this process to stop.
pub(super) struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    /// Listens from now on, so that a signal during the start is not lost.
    pub(super) fn listen() -> Result<Self, Failure> {
        let on = |kind| signal(kind).map_err(Failure::Runtime);
        Ok(Self { terminate: on(SignalKind::terminate())?, interrupt: on(SignalKind::interrupt())? })
    }

    /// Completes at the next SIGTERM or SIGINT.
    pub(super) async fn requested(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
