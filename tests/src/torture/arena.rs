//! What everybody in the controlling process shares.

use super::Options;
use super::actor::Scene;
use super::crew::Crew;
use super::figures::Figures;
use super::ground::Ground;
use super::person::Person;
use super::store::TortureStore;
use outbox::Outbox;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

/// One torture under way.
pub(super) struct Arena<S: TortureStore> {
    pub(super) options: Options,
    pub(super) folder: PathBuf,
    /// Reaches the database without a proxy.
    pub(super) outbox: Outbox<S>,
    pub(super) ground: Ground,
    pub(super) crew: Mutex<Crew>,
    /// What this process itself did.
    pub(super) scene: Arc<Scene>,
    pub(super) person: Mutex<Person>,
    pub(super) figures: Figures,
    pub(super) calm: watch::Sender<bool>,
    pub(super) problems: std::sync::Mutex<Vec<String>>,
}

impl<S: TortureStore> Arena<S> {
    /// Waits so long; gives whether things may still be broken. Ends early when it is to be calm.
    pub(super) async fn rest(&self, pause: Duration) -> bool {
        let mut calm = self.calm.subscribe();
        let is_calm = timeout(pause, calm.wait_for(|calm| *calm)).await;
        is_calm.is_err()
    }

    /// Counts a fault and says so.
    pub(super) fn tell(&self, what: &str, whom: &str) {
        self.figures.add(what, 1);
        tracing::info!(whom, what, "something breaks");
    }

    /// Notes what must not be.
    pub(super) fn problem(&self, problem: String) {
        self.problems.lock().expect("nobody panics here").push(problem);
    }
}
