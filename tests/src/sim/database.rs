//! A database in memory with as much of PostgreSQL's isolation as the outbox rests on.
//!
//! - A transaction gets its id with its first write, and every statement a snapshot of its own.
//! - A commit makes all of a transaction visible at once, in whatever order transactions come to it.
//! - Rows are locked to the end of a transaction; who waits sees the newest version when it goes on.
//! - The sequence gives numbers outside of transactions, and tells who took one and has not ended.
//! - A commit that is not synchronous is visible before it is durable; a crash takes it back, and what the sequence gave.

mod table;
mod tables;
mod transactions;

pub(super) use table::{Busy, Mode, Table};
pub(super) use tables::{DeadRow, HeldKey, HeldRow, LogRow, Mark, ProgressRow, Tables};
pub(super) use transactions::{Leader, Snapshot, State, Transactions, TxId, View, Xid};

use outbox::envelope::Seq;

/// How many numbers the sequence writes ahead.
const WRITTEN_AHEAD: i64 = 32;

/// The tables, the transactions on them, and the sequence.
#[derive(Debug, Default)]
pub(super) struct Database {
    pub(super) tables: Tables,
    pub(super) txs: Transactions,
    pub(super) sequence: Sequence,
}

/// What gives numbers to events. It writes ahead, so that a crash leaves a gap and no number comes twice, provided that a
/// commit behind the number was written too.
#[derive(Debug)]
pub(super) struct Sequence {
    last: i64,
    written: i64,
    durable: i64,
}

impl Default for Sequence {
    fn default() -> Self {
        let last = Seq::ORIGIN.0;
        Self { last, written: last, durable: last }
    }
}

impl Sequence {
    pub(super) fn next(&mut self) -> i64 {
        self.last += 1;
        if self.last > self.written {
            self.written = self.last + WRITTEN_AHEAD;
        }
        self.last
    }

    pub(super) fn last(&self) -> i64 {
        self.last
    }
}

impl Database {
    /// Ends a transaction; one that was aborted before rolls back, and nobody is told.
    pub(super) fn commit(&mut self, tx: TxId) {
        let Some(open) = self.txs.open.remove(&tx) else { return };
        let Some(xid) = open.xid else { return };
        if open.is_aborted {
            self.txs.set(xid, State::Aborted);
            return;
        }
        self.txs.set(xid, State::Committed);
        self.txs.unflushed.push(xid);
        if open.is_synchronous {
            self.flush();
        }
    }

    pub(super) fn roll_back(&mut self, tx: TxId) {
        if let Some(xid) = self.txs.open.remove(&tx).and_then(|open| open.xid) {
            self.txs.set(xid, State::Aborted);
        }
    }

    /// Makes everything durable that has committed.
    pub(super) fn flush(&mut self) {
        self.txs.unflushed.clear();
        self.sequence.durable = self.sequence.written;
    }

    /// Ends every transaction that is not prepared, and takes back what was not durable.
    pub(super) fn crash(&mut self) {
        let running: Vec<TxId> =
            self.txs.open.iter().filter(|(_, open)| !open.is_prepared).map(|(tx, _)| *tx).collect();
        running.into_iter().for_each(|tx| self.roll_back(tx));
        for xid in std::mem::take(&mut self.txs.unflushed) {
            self.txs.set(xid, State::Aborted);
        }
        let Sequence { last, written, durable } = &mut self.sequence;
        (*last, *written) = (*durable, *durable);
    }
}
