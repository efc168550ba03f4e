//! The order in which the writers of this process get the write lock.
//!
//! SQLite lets waiting writers try again and again, up to 100 ms apart. A loop that begins its next transaction right
//! after its last would win against all of them, and leases would run out beside it. So writers stand in line here, and
//! those that keep leases wait for one other at most.

use tokio::sync::{Mutex, MutexGuard};

/// The line. It is held while a writer waits for the lock, never during its transaction.
#[derive(Debug, Default)]
pub(super) struct Gate {
    line: Mutex<()>,
    next: Mutex<()>,
}

/// The right to try for the write lock.
pub(super) struct Turn<'a> {
    _next: MutexGuard<'a, ()>,
    _line: Option<MutexGuard<'a, ()>>,
}

impl Gate {
    /// Waits behind all others.
    pub(super) async fn turn(&self) -> Turn<'_> {
        let line = self.line.lock().await;
        Turn { _next: self.next.lock().await, _line: Some(line) }
    }

    /// Waits behind the one that is next, and behind others that keep leases.
    pub(super) async fn urgent_turn(&self) -> Turn<'_> {
        Turn { _next: self.next.lock().await, _line: None }
    }
}
