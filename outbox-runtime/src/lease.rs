//! Leadership by lease: at most one owner may write for a stage, and every write proves it.
//!
//! The epoch row of a lease changes at take-over only, so that leaders' writes can lock it `FOR SHARE` without meeting
//! heartbeats, which have a row of their own. Whether a lease has run out is decided by the database's clock.

use crate::held::{Share, Stage};
use std::fmt;
use uuid::Uuid;

/// What is led: a stage, or one share of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseName(String);

impl LeaseName {
    /// The lease on one share of a stage.
    #[must_use]
    pub fn of(stage: &Stage, share: &Share) -> Self {
        if share.0.is_empty() { Self(stage.to_string()) } else { Self(format!("{stage}#{}", share.0)) }
    }

    /// The text in the store.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LeaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who holds a lease: one running process, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(pub Uuid);

impl Owner {
    /// A new owner.
    #[must_use]
    pub fn new() -> Self {
        Self(Uuid::new_v4())
    }
}

impl Default for Owner {
    fn default() -> Self {
        Self::new()
    }
}

/// The proof a leader shows with every write: it counts only while the lease's row has this owner and epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// The stage whose records are written.
    pub stage: Stage,
    /// The share of the stage.
    pub share: Share,
    /// Who writes.
    pub owner: Owner,
    /// Grows by one at each take-over.
    pub epoch: i64,
}

impl Fence {
    /// The name of the lease.
    #[must_use]
    pub fn lease(&self) -> LeaseName {
        LeaseName::of(&self.stage, &self.share)
    }
}
