//! Wake-ups from producers to readers in one process. A hint only: readers poll all the same.

use tokio::sync::watch;

/// What a producer knows when it nudges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nudge {
    /// The row is committed: one look finds it.
    Committed,
    /// The row is written and its transaction still open: look again and again for a short while.
    Soon,
}

/// The producers' end.
#[derive(Debug, Clone)]
pub(crate) struct Wake {
    sender: watch::Sender<Nudge>,
}

impl Wake {
    pub(crate) fn new() -> Self {
        Self { sender: watch::Sender::new(Nudge::Committed) }
    }

    /// Wakes every reader that waits, and each that starts to wait before it has looked again.
    pub(crate) fn nudge(&self, nudge: Nudge) {
        self.sender.send_replace(nudge);
    }

    pub(crate) fn subscribe(&self) -> WakeReceiver {
        WakeReceiver { receiver: self.sender.subscribe() }
    }
}

/// One reader's end.
#[derive(Debug, Clone)]
pub(crate) struct WakeReceiver {
    receiver: watch::Receiver<Nudge>,
}

impl WakeReceiver {
    /// The next nudge since the last call; `None` when the outbox is gone.
    ///
    /// # Cancel safety
    /// If dropped, no nudge is lost.
    pub(crate) async fn nudged(&mut self) -> Option<Nudge> {
        self.receiver.changed().await.ok()?;
        Some(*self.receiver.borrow_and_update())
    }
}
