//! Transactions: their ids, their ends, and what a snapshot of them sees.

use crate::history::EventName;
use crate::sim::executor::Process;
use outbox::lease::Fence;
use std::collections::BTreeMap;

/// A transaction of a session, from its begin on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::sim) struct TxId(u64);

/// The id of a transaction that has written.
pub(in crate::sim) type Xid = usize;

/// What became of a transaction that has an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) enum State {
    Running,
    Committed,
    Aborted,
}

/// A row of the table of leaders.
pub(in crate::sim) type Leader = (outbox::lease::Owner, i64);

/// A transaction that has not ended.
#[derive(Debug, Clone, Default)]
pub(in crate::sim) struct Open {
    pub(in crate::sim) xid: Option<Xid>,
    /// Whether it took a number, and so holds a lock on the sequence.
    pub(in crate::sim) has_number: bool,
    pub(in crate::sim) is_prepared: bool,
    /// Whether a statement failed in it.
    pub(in crate::sim) is_aborted: bool,
    pub(in crate::sim) is_synchronous: bool,
    /// The leader in whose name it wrote.
    pub(in crate::sim) fence: Option<Fence>,
    /// What a handler wrote in it: which consumer, of which event.
    pub(in crate::sim) effects: Vec<(String, EventName)>,
    /// Whose session it is.
    pub(in crate::sim) process: Process,
}

/// All transactions.
#[derive(Debug, Default)]
pub(in crate::sim) struct Transactions {
    states: Vec<State>,
    begun: u64,
    pub(in crate::sim) open: BTreeMap<TxId, Open>,
    /// Committed, and lost in a crash.
    pub(in crate::sim) unflushed: Vec<Xid>,
}

/// Which transactions had ended when a statement began.
#[derive(Debug, Clone)]
pub(in crate::sim) struct Snapshot {
    next: Xid,
    running: Vec<Xid>,
}

impl Snapshot {
    /// The lowest id that was still open.
    pub(in crate::sim) fn xmin(&self) -> Xid {
        self.running.iter().copied().min().unwrap_or(self.next)
    }
}

impl Transactions {
    pub(in crate::sim) fn begin(&mut self, process: Process, is_synchronous: bool) -> TxId {
        self.begun += 1;
        let tx = TxId(self.begun);
        self.open.insert(tx, Open { process, is_synchronous, ..Open::default() });
        tx
    }

    /// The id of an open transaction, given now if it has none.
    pub(in crate::sim) fn xid_of(&mut self, tx: TxId) -> Option<Xid> {
        let open = self.open.get_mut(&tx)?;
        let states = &mut self.states;
        Some(*open.xid.get_or_insert_with(|| {
            states.push(State::Running);
            states.len() - 1
        }))
    }

    pub(in crate::sim) fn snapshot(&self) -> Snapshot {
        let running = self.open.values().filter_map(|open| open.xid).collect();
        Snapshot { next: self.states.len(), running }
    }

    pub(in crate::sim) fn state(&self, xid: Xid) -> State {
        self.states[xid]
    }

    pub(super) fn set(&mut self, xid: Xid, state: State) {
        self.states[xid] = state;
    }

    /// Those who took a number and have not ended: virtual transaction, and whether it is a prepared one.
    pub(in crate::sim) fn number_holders(&self) -> Vec<(String, bool)> {
        let holders = self.open.iter().filter(|(_, open)| open.has_number);
        holders
            .map(|(tx, open)| {
                let session = if open.is_prepared { "-1" } else { "3" };
                (format!("{session}/{}", tx.0), open.is_prepared)
            })
            .collect()
    }
}

/// What a statement sees: its snapshot, and what its own transaction did.
#[derive(Debug, Clone, Copy)]
pub(in crate::sim) struct View<'a> {
    pub(in crate::sim) txs: &'a Transactions,
    pub(in crate::sim) snapshot: &'a Snapshot,
    pub(in crate::sim) own: Option<Xid>,
}

impl View<'_> {
    pub(super) fn sees(&self, xid: Xid) -> bool {
        Some(xid) == self.own
            || (xid < self.snapshot.next
                && !self.snapshot.running.contains(&xid)
                && self.txs.state(xid) == State::Committed)
    }

    /// Whether another transaction of this id has not ended.
    pub(super) fn is_busy(&self, xid: Xid) -> bool {
        Some(xid) != self.own && self.txs.state(xid) == State::Running
    }

    pub(super) fn me(&self) -> Xid {
        self.own.expect("who writes has an id")
    }
}
