//! One table: versions of rows, and locks on them.

use super::transactions::{State, Transactions, View, Xid};
use std::collections::BTreeMap;

/// Another transaction has to end first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) struct Busy(pub(in crate::sim) Xid);

/// How a row is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) enum Mode {
    /// `FOR SHARE`: beside others of its kind.
    Share,
    /// As an update does.
    Exclusive,
}

/// Rows by key.
#[derive(Debug)]
pub(in crate::sim) struct Table<K, V> {
    rows: BTreeMap<K, Row<V>>,
}

#[derive(Debug)]
struct Row<V> {
    versions: Vec<Version<V>>,
    locks: Vec<(Xid, Mode)>,
}

#[derive(Debug)]
struct Version<V> {
    value: V,
    made_by: Xid,
    ended_by: Option<Xid>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new() }
    }
}

impl<V> Row<V> {
    fn visible(&self, view: &View<'_>) -> Option<&V> {
        let is_visible = |version: &&Version<V>| {
            view.sees(version.made_by) && !version.ended_by.is_some_and(|xid| view.sees(xid))
        };
        self.versions.iter().rev().find(is_visible).map(|version| &version.value)
    }

    /// The version that stands now, whatever the snapshot; `None` when there is none.
    fn newest(&self, view: &View<'_>) -> Result<Option<&Version<V>>, Busy> {
        let is_void = |xid: Xid| view.txs.state(xid) == State::Aborted;
        let Some(newest) = self.versions.iter().rev().find(|version| !is_void(version.made_by)) else {
            return Ok(None);
        };
        if view.is_busy(newest.made_by) {
            return Err(Busy(newest.made_by));
        }
        match newest.ended_by.filter(|xid| !is_void(*xid)) {
            None => Ok(Some(newest)),
            Some(xid) if view.is_busy(xid) => Err(Busy(xid)),
            Some(_) => Ok(None),
        }
    }

    fn locked_by_other(&self, view: &View<'_>, mode: Mode) -> Option<Xid> {
        let conflicts = |other: Mode| mode == Mode::Exclusive || other == Mode::Exclusive;
        let held = self.locks.iter().find(|(xid, other)| view.is_busy(*xid) && conflicts(*other));
        held.map(|(xid, _)| *xid)
    }
}

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    pub(in crate::sim) fn get(&self, view: &View<'_>, key: &K) -> Option<&V> {
        self.rows.get(key)?.visible(view)
    }

    pub(in crate::sim) fn iter<'t>(
        &'t self,
        view: &'t View<'_>,
    ) -> impl DoubleEndedIterator<Item = (&'t K, &'t V)> {
        self.rows.iter().filter_map(|(key, row)| Some((key, row.visible(view)?)))
    }

    pub(in crate::sim) fn range<'t>(
        &'t self,
        view: &'t View<'_>,
        range: impl std::ops::RangeBounds<K>,
    ) -> impl DoubleEndedIterator<Item = (&'t K, &'t V)> {
        self.rows.range(range).filter_map(|(key, row)| Some((key, row.visible(view)?)))
    }

    /// Locks a row that the statement sees and that still satisfies it when it is had.
    pub(in crate::sim) fn lock(
        &mut self,
        view: &View<'_>,
        key: &K,
        mode: Mode,
        wanted: impl Fn(&V) -> bool,
    ) -> Result<Option<V>, Busy> {
        if !self.get(view, key).is_some_and(&wanted) {
            return Ok(None);
        }
        Ok(self.lock_newest(view, key, mode)?.filter(wanted))
    }

    /// Locks the row that stands now, whether the statement sees it or not, as `ON CONFLICT DO UPDATE` does.
    pub(in crate::sim) fn lock_newest(
        &mut self,
        view: &View<'_>,
        key: &K,
        mode: Mode,
    ) -> Result<Option<V>, Busy> {
        let Some(row) = self.rows.get_mut(key) else { return Ok(None) };
        let Some(newest) = row.newest(view)?.map(|version| version.value.clone()) else { return Ok(None) };
        if let Some(holder) = row.locked_by_other(view, mode) {
            return Err(Busy(holder));
        }
        row.locks.retain(|(xid, _)| view.txs.state(*xid) == State::Running);
        row.locks.push((view.me(), mode));
        Ok(Some(newest))
    }

    /// Inserts a row; `false` if there is one of this key.
    pub(in crate::sim) fn insert(&mut self, view: &View<'_>, key: K, value: V) -> Result<bool, Busy> {
        let row = self.rows.entry(key).or_insert_with(|| Row { versions: Vec::new(), locks: Vec::new() });
        if row.newest(view)?.is_some() {
            return Ok(false);
        }
        row.versions.push(Version { value, made_by: view.me(), ended_by: None });
        Ok(true)
    }

    /// Changes a row that this transaction has locked.
    pub(in crate::sim) fn replace(&mut self, view: &View<'_>, key: &K, value: V) {
        self.remove(view, key);
        let row = self.rows.get_mut(key).expect("a locked row is there");
        row.versions.push(Version { value, made_by: view.me(), ended_by: None });
    }

    /// Deletes a row that this transaction has locked.
    pub(in crate::sim) fn remove(&mut self, view: &View<'_>, key: &K) {
        let row = self.rows.get_mut(key).expect("a locked row is there");
        let is_void = |xid: Xid| view.txs.state(xid) == State::Aborted;
        let newest = row.versions.iter_mut().rev().find(|version| !is_void(version.made_by));
        newest.expect("a locked row has a version").ended_by = Some(view.me());
    }

    /// Locks and deletes a row that the statement sees.
    pub(in crate::sim) fn delete(&mut self, view: &View<'_>, key: &K) -> Result<Option<V>, Busy> {
        let deleted = self.lock(view, key, Mode::Exclusive, |_| true)?;
        if deleted.is_some() {
            self.remove(view, key);
        }
        Ok(deleted)
    }

    /// Deletes the row that stands now, as a foreign key does.
    pub(in crate::sim) fn delete_newest(&mut self, view: &View<'_>, key: &K) -> Result<(), Busy> {
        if self.lock_newest(view, key, Mode::Exclusive)?.is_some() {
            self.remove(view, key);
        }
        Ok(())
    }

    /// What has committed, whoever asks.
    pub(in crate::sim) fn committed<'t>(
        &'t self,
        txs: &'t Transactions,
    ) -> impl Iterator<Item = (&'t K, &'t V)> {
        let is_committed = |xid: Xid| txs.state(xid) == State::Committed;
        self.rows.iter().filter_map(move |(key, row)| {
            let stands = |version: &&Version<V>| {
                is_committed(version.made_by) && !version.ended_by.is_some_and(is_committed)
            };
            Some((key, &row.versions.iter().rev().find(stands)?.value))
        })
    }
}
