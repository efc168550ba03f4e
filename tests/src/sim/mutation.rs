//! The faults that the simulation is shown to find: each is a mistake that somebody could make, and some have made.

/// One mistake in the database's statements, at the broker, or in the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// None: everything is as it is.
    None,
    /// The fence is looked at and not locked, so a take-over passes a write that is under way.
    FenceNotLocked,
    /// A leader goes on while a write of its own is under way whose answer was lost.
    WritesNotAwaited,
    /// Held events and effects are written whether the fence holds or not.
    WriteBesideFence,
    /// What is settled is taken from the sequence and not from a row that was read.
    SettledFromSequence,
    /// The rows in holes are read in one statement, and the lowest open transaction in a later one.
    XminAfterRows,
    /// The holes are looked into before new rows are read, and not after.
    HolesBeforeRows,
    /// The look into holes leaves out the rows that the stage does not want.
    HolesFiltered,
    /// The number is taken before the transaction has its id.
    NumberBeforeXid,
    /// Each session takes several numbers at once.
    NumbersCached,
    /// The proof of a hole counts transactions that began before it was seen.
    ProofTooEarly,
    /// Nobody is said to hold the sequence.
    HoldersForgotten,
    /// The newest held event of a key is tried first.
    NewestHeldFirst,
    /// The mark of a key goes with its first held event.
    MarkLiftedEarly,
    /// Marks are not locked, so one transaction lifts a mark while another puts an event behind it.
    MarksNotLocked,
    /// The broker is said to keep the order of a key through failures.
    TwoOfAKeyInFlight,
    /// The clock that leases are measured with stands still while a process is paused.
    LeaseOutlived,
    /// What was read counts as settled after the connection was lost.
    MemoryOutlivesConnection,
    /// A failure charges an attempt to each event of the page.
    AttemptForWholePage,
    /// A handler's transaction is committed without proof that it still stands.
    CommitNotProven,
    /// An enqueue leaves `synchronous_commit` off.
    CommitNotDurable,
    /// The inbox takes an event that it holds already.
    InboxForgets,
    /// A refused event is passed without a trace.
    FailureForgotten,
}

impl Mutation {
    /// The seed from which on to look for it: of those that few histories show, where it was found last.
    #[must_use]
    pub fn first_seed(self) -> u64 {
        match self {
            Self::WritesNotAwaited => 1_797,
            Self::XminAfterRows => 286,
            Self::HolesBeforeRows => 2_066,
            Self::NumberBeforeXid => 483,
            Self::LeaseOutlived => 102,
            _ => 0,
        }
    }

    /// All that are mistakes.
    pub const ALL: [Self; 22] = [
        Self::FenceNotLocked,
        Self::WritesNotAwaited,
        Self::WriteBesideFence,
        Self::SettledFromSequence,
        Self::XminAfterRows,
        Self::HolesBeforeRows,
        Self::HolesFiltered,
        Self::NumberBeforeXid,
        Self::NumbersCached,
        Self::ProofTooEarly,
        Self::HoldersForgotten,
        Self::NewestHeldFirst,
        Self::MarkLiftedEarly,
        Self::MarksNotLocked,
        Self::TwoOfAKeyInFlight,
        Self::LeaseOutlived,
        Self::MemoryOutlivesConnection,
        Self::AttemptForWholePage,
        Self::CommitNotProven,
        Self::CommitNotDurable,
        Self::InboxForgets,
        Self::FailureForgotten,
    ];
}
