//! Why a store could not do what was asked, whichever database it is.

use crate::envelope::Seq;
use std::error::Error;

/// An error of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database could not be reached or refused the statement.
    #[error("the database failed while it was to {action}")]
    Database {
        /// What was being done, as a verb phrase.
        action: &'static str,
        /// Whether the same call may succeed later.
        transient: bool,
        /// The driver's error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// Another owner holds the lease: nothing was written.
    #[error("the lease `{lease}` was lost to another process; stop this stage and let it be taken up again")]
    LeaseLost {
        /// The lease.
        lease: String,
    },
    /// The tables are missing or of another version.
    #[error("{problem}; {fix}")]
    Schema {
        /// What is wrong.
        problem: String,
        /// What to do.
        fix: String,
    },
    /// A new stage is to begin at a number that the log has not given out yet.
    #[error(
        "nothing can start at seq {start}: the log has given out {last} at most; give a seq up to the next one, or \
         start at the latest event"
    )]
    StartUnknown {
        /// Where it was to begin.
        start: Seq,
        /// The last number that was given out.
        last: Seq,
    },
    /// A range of the log is to be replayed to a stage that does not read this log.
    #[error(
        "`{stage}` does not read the log of this database; name a relay or a consumer that does, as `outbox status` shows \
         them with a lag (a consumer on a broker gets a replay from the relay of the database that wrote the events)"
    )]
    ReadsNoLog {
        /// The stage.
        stage: String,
    },
    /// A rule that the order or completeness of the log rests on is broken.
    #[error("the log cannot be trusted: {problem}; {fix}")]
    Precondition {
        /// What is wrong.
        problem: String,
        /// What to do.
        fix: String,
    },
    /// The handler swallowed a database error, so the transaction is aborted and nothing of it was kept.
    #[error(
        "a database error was swallowed in the transaction, which can only roll back; return the error instead"
    )]
    Aborted {
        /// The driver's error, where there is one.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The transaction was ended by the code that it was lent to.
    #[error(
        "the transaction was committed or rolled back by the code it was lent to; leave its end to the framework"
    )]
    EndedEarly,
    /// A transaction that read before it wrote was overtaken by another writer (SQLite).
    #[error(
        "the transaction read before it wrote and another writer came in between; roll back and begin it with \
         `outbox.begin()`, which takes the write lock at once"
    )]
    Overtaken {
        /// The driver's error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A stored row cannot be read.
    #[error("the row `{row}` cannot be read: {problem}; repair or delete it")]
    Corrupt {
        /// Which row.
        row: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl StoreError {
    /// Whether the same call may succeed later without a change by a person.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database { transient, .. } => *transient,
            Self::Overtaken { .. } => true,
            _ => false,
        }
    }
}
