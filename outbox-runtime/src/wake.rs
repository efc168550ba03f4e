//! Wake-ups from producers to readers in one process. A hint only: readers poll all the same.

use crate::store::{News, Store};
use std::time::Duration;
use tokio::sync::watch;

/// The first and the longest wait of the looks that follow a nudge whose transaction is still open.
const SOON: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(256));

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

/// When one who waits for news looks again: at once after a commit in this process or a notification, at growing intervals
/// after a nudge whose transaction is still open, and by polling in any case.
#[derive(Debug)]
pub(crate) struct Readiness {
    wake: WakeReceiver,
    news: News,
    soon: Option<Duration>,
    /// The notifications of other processes that this reader knows of, also those that came while it was not waiting.
    heard: u64,
}

impl Readiness {
    pub(crate) fn new(wake: WakeReceiver, news: News) -> Self {
        Self { wake, news, soon: None, heard: 0 }
    }

    /// Something was there, so nothing more is expected.
    pub(crate) fn found(&mut self) {
        self.soon = None;
    }

    /// Waits for a sign that there is something to read, at most `at_most`.
    ///
    /// # Cancel safety
    /// If dropped, no sign is lost.
    pub(crate) async fn wait<S: Store>(&mut self, store: &S, at_most: Duration) {
        let pause = self.soon.map_or(at_most, |soon| soon.min(at_most));
        tokio::select! { biased;
            nudge = self.wake.nudged() => match nudge {
                Some(Nudge::Committed) => self.soon = None,
                Some(Nudge::Soon) => self.soon = Some(SOON.0),
                // The outbox is gone; only polling is left.
                None => tokio::time::sleep(pause).await,
            },
            // The other process may have notified before its commit, too.
            () = store.notified(self.news, &mut self.heard) => self.soon = Some(SOON.0),
            () = tokio::time::sleep(pause) => {
                self.soon = self.soon.map(|soon| soon * 2).filter(|soon| *soon <= SOON.1);
            }
        }
    }
}
