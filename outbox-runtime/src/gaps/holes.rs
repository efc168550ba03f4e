//! What a cursor knows of its holes: numbers below the last row read for which no row was seen yet.
//!
//! ```text
//!          a gap between two rows read
//!                     │
//!                     ▼
//!   row appears ◀── open ──▶ dead: whoever took the numbers has ended, and a later look found no row
//!        │
//!        ▼
//!      late ──▶ settled: no hole any more
//! ```
//! A hole is never dropped because time has passed. Two proofs end it, each followed by a look *after* the proof:
//! - *Cheap*: its takers have lower transaction ids than any transaction that began after the gap was seen. Once the
//!   lowest open id is above that of such a transaction (a settle of ours), they have all ended.
//! - *Exact*, where a foreign transaction stays open and blocks the first: `nextval` locks the sequence until its
//!   transaction ends, so once all who held that lock when the gap had been seen hold it no more, the takers have ended.
//!   It is tried for holes that are old, and for all of them when they are many: so their number does not follow the rate of
//!   rollbacks.
//!
//! Pure bookkeeping: the cursor asks the database and says what it answered.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// Holes younger than this live in the row of progress and wait for the cheap proof; older ones have rows of their own
/// and may be proven by the exact one. Nearly all are gone within one poll.
const YOUNG: Duration = Duration::from_secs(1);
/// The most holes in one row of progress, to keep it short.
const INLINE_MAX: usize = 64;

/// One hole, or what is left of it.
#[derive(Debug, Clone)]
struct Hole {
    last: i64,
    seen_at: Instant,
    /// A transaction id of ours, assigned after the gap was seen.
    later_xid: Option<i64>,
    takers: Takers,
}

/// Who may still fill a hole.
#[derive(Debug, Clone)]
enum Takers {
    Unknown,
    /// Among these virtual transactions.
    Among(Arc<HashSet<String>>),
    /// They have ended.
    Gone,
}

/// A look at one hole, about to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) first: i64,
    pub(super) last: i64,
    takers_are_gone: bool,
    later_xid: Option<i64>,
}

/// All holes of one cursor.
#[derive(Debug, Default)]
pub(super) struct Holes {
    /// By their first number.
    open: BTreeMap<i64, Hole>,
    /// Rows found in holes and not settled, with the time the gap was seen.
    late: BTreeMap<i64, Instant>,
    /// The rows of the table of holes, first to last.
    stored: BTreeMap<i64, i64>,
    /// The holes in the newest row of progress.
    inline: Vec<i64>,
    /// Where the next look at old holes begins.
    next_old: i64,
}

/// What a settle has to write about holes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HolesRecord {
    /// The young holes, for the row of progress: first, last, first, last, …
    pub inline: Vec<i64>,
    /// The first numbers of rows to delete from the table of holes.
    pub delete: Vec<i64>,
    /// The rows to insert there, first to last.
    pub insert: Vec<(i64, i64)>,
    stored: BTreeMap<i64, i64>,
}

impl Holes {
    /// The holes as they were recorded.
    pub(super) fn load(inline: Vec<i64>, stored: BTreeMap<i64, i64>, now: Instant) -> Self {
        let mut holes = Self::default();
        for range in inline.as_chunks::<2>().0 {
            holes.note(range[0], range[1], now);
        }
        for (first, last) in &stored {
            holes.note(*first, *last, now);
        }
        Self { stored, inline, ..holes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Notes a gap between two rows that were read.
    pub(super) fn note(&mut self, first: i64, last: i64, now: Instant) {
        self.open.insert(first, Hole { last, seen_at: now, later_xid: None, takers: Takers::Unknown });
    }

    /// A transaction of ours that began after every open hole was seen had this id.
    pub(super) fn note_later_xid(&mut self, xid: i64) {
        for hole in self.open.values_mut() {
            hole.later_xid.get_or_insert(xid);
        }
    }

    /// Whether more holes are open than a row of progress holds.
    pub(super) fn are_many(&self) -> bool {
        self.open.len() > INLINE_MAX
    }

    /// Whether to ask who holds the sequence: the takers of some hole are not gone, and it is old or one of many.
    pub(super) fn wants_takers(&self, now: Instant) -> bool {
        let are_many = self.are_many();
        self.open.values().any(|hole| (are_many || hole.is_old(now)) && !matches!(hole.takers, Takers::Gone))
    }

    /// Takes note of who holds the sequence. All holes were seen before that was asked.
    ///
    /// `is_prepared`: a prepared transaction is among them. It may be any of the takers, under another virtual id than it
    /// had, so nobody is taken for gone.
    pub(super) fn note_takers(&mut self, holders: HashSet<String>, is_prepared: bool, now: Instant) {
        let (holders, are_many) = (Arc::new(holders), self.are_many());
        for hole in self.open.values_mut().filter(|hole| are_many || hole.is_old(now)) {
            let among = match &hole.takers {
                Takers::Gone => continue,
                Takers::Unknown => &holders,
                Takers::Among(before) => before,
            };
            let are_gone = !is_prepared && among.is_disjoint(&holders);
            hole.takers = if are_gone { Takers::Gone } else { Takers::Among(Arc::clone(among)) };
        }
    }

    /// Every hole.
    pub(super) fn all_looks(&self) -> Vec<Look> {
        self.open.iter().map(Look::at).collect()
    }

    /// Which holes to look at while nothing new is read: the young ones and those whose takers are gone, and of the others as
    /// many as there is room for, in turn, if `with_old` says so.
    pub(super) fn looks(&mut self, with_old: bool, max: usize, now: Instant) -> Vec<Look> {
        let is_urgent = |hole: &Hole| !hole.is_old(now) || matches!(hole.takers, Takers::Gone);
        let mut looks: Vec<Look> =
            self.open.iter().filter(|(_, hole)| is_urgent(hole)).take(max).map(Look::at).collect();
        if with_old {
            let room = max - looks.len();
            let in_turn = self.open.range(self.next_old..).chain(self.open.range(..self.next_old));
            let old: Vec<Look> =
                in_turn.filter(|(_, hole)| !is_urgent(hole)).take(room).map(Look::at).collect();
            self.next_old = old.last().map_or(self.next_old, |look| look.first + 1);
            looks.extend(old);
        }
        looks.sort_unstable_by_key(|look| look.first);
        looks
    }

    /// Takes in what one look found: `rows` in seq order, complete up to `complete_to`, in a snapshot whose lowest open
    /// transaction id is `xmin`. Tells whether anything changed.
    pub(super) fn looked(&mut self, looks: &[Look], rows: &[i64], complete_to: i64, xmin: i64) -> bool {
        let mut changed = false;
        for look in looks {
            let hole = self.open[&look.first].clone();
            let found: Vec<i64> =
                rows.iter().copied().filter(|seq| (look.first..=look.last).contains(seq)).collect();
            let is_proven = look.takers_are_gone || look.later_xid.is_some_and(|later| later < xmin);
            let is_dead = is_proven && look.last <= complete_to;
            if found.is_empty() && !is_dead {
                continue;
            }
            changed = true;
            self.open.remove(&look.first);
            let mut from = look.first;
            for seq in found {
                self.reopen(from, seq - 1, &hole, is_dead);
                self.late.insert(seq, hole.seen_at);
                from = seq + 1;
            }
            self.reopen(from, look.last, &hole, is_dead);
        }
        changed
    }

    /// A row that an earlier connection found in a hole which this one has loaded.
    pub(super) fn find(&mut self, seq: i64) {
        let around = self.open.range(..=seq).next_back().filter(|(_, hole)| seq <= hole.last);
        if let Some((first, hole)) = around.map(|(first, hole)| (*first, hole.clone())) {
            self.open.remove(&first);
            self.reopen(first, seq - 1, &hole, false);
            self.reopen(seq + 1, hole.last, &hole, false);
            self.late.insert(seq, hole.seen_at);
        }
    }

    fn reopen(&mut self, first: i64, last: i64, of: &Hole, is_dead: bool) {
        if first <= last && !is_dead {
            self.open.insert(first, Hole { last, ..of.clone() });
        }
    }

    /// What is to be recorded when everything up to `settled` is settled and the late rows `done` too.
    pub(super) fn record(&self, settled: i64, done: &BTreeSet<i64>, now: Instant) -> HolesRecord {
        let open = self.open.range(..=settled).map(|(first, hole)| (*first, hole.last, hole.seen_at));
        let late = self.late.range(..=settled).filter(|(seq, _)| !done.contains(seq));
        let mut record = HolesRecord::default();
        for (first, last, seen_at) in open.chain(late.map(|(seq, seen_at)| (*seq, *seq, *seen_at))) {
            if now.duration_since(seen_at) < YOUNG && record.inline.len() < 2 * INLINE_MAX {
                record.inline.extend([first, last]);
            } else {
                record.stored.insert(first, last);
            }
        }
        record.delete = self
            .stored
            .iter()
            .filter(|(first, last)| record.stored.get(first) != Some(last))
            .map(|(first, _)| *first)
            .collect();
        record.insert = record
            .stored
            .iter()
            .filter(|(first, last)| self.stored.get(first) != Some(last))
            .map(|(first, last)| (*first, *last))
            .collect();
        record
    }

    /// Whether the record differs from what stands in the database.
    pub(super) fn differs(&self, record: &HolesRecord) -> bool {
        record.has_rows() || record.inline != self.inline
    }

    /// The record was written.
    pub(super) fn recorded(&mut self, record: HolesRecord, done: &BTreeSet<i64>) {
        self.late.retain(|seq, _| !done.contains(seq));
        self.stored = record.stored;
        self.inline = record.inline;
    }
}

impl HolesRecord {
    /// Whether rows of the table of holes change.
    #[must_use]
    pub fn has_rows(&self) -> bool {
        !self.delete.is_empty() || !self.insert.is_empty()
    }
}

impl Look {
    fn at((first, hole): (&i64, &Hole)) -> Self {
        Self {
            first: *first,
            last: hole.last,
            takers_are_gone: matches!(hole.takers, Takers::Gone),
            later_xid: hole.later_xid,
        }
    }
}

impl Hole {
    fn is_old(&self, now: Instant) -> bool {
        now.duration_since(self.seen_at) >= YOUNG
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 100;

    fn holders(names: &[&str]) -> HashSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn open_ranges(holes: &Holes) -> Vec<(i64, i64)> {
        holes.open.iter().map(|(first, hole)| (*first, hole.last)).collect()
    }

    #[test]
    fn a_row_that_appears_splits_its_hole_and_is_recorded_until_it_is_settled() {
        let now = Instant::now();
        let mut holes = Holes::default();
        holes.note(10, 14, now);
        let looks = holes.looks(false, MAX, now);
        assert!(holes.looked(&looks, &[12], i64::MAX, 5));
        assert_eq!(open_ranges(&holes), [(10, 11), (13, 14)]);
        assert_eq!(holes.record(20, &BTreeSet::new(), now).inline, [10, 11, 13, 14, 12, 12]);
        assert_eq!(holes.record(20, &BTreeSet::from([12]), now).inline, [10, 11, 13, 14]);
    }

    #[test]
    fn the_cheap_proof_needs_every_older_transaction_ended() {
        let now = Instant::now();
        let mut holes = Holes::default();
        holes.note(10, 14, now);
        let looks = holes.looks(false, MAX, now);
        assert!(
            !holes.looked(&looks, &[], i64::MAX, 1000),
            "no transaction of ours began after the gap was seen"
        );
        holes.note_later_xid(500);
        let looks = holes.looks(false, MAX, now);
        assert!(
            !holes.looked(&looks, &[], i64::MAX, 500),
            "transaction 500 itself is no proof of those before it"
        );
        assert!(holes.looked(&looks, &[11], i64::MAX, 501));
        assert!(holes.is_empty());
        assert_eq!(holes.late.keys().copied().collect::<Vec<_>>(), [11]);
    }

    #[test]
    fn a_look_that_was_cut_short_proves_nothing_beyond_its_last_row() {
        let now = Instant::now();
        let mut holes = Holes::default();
        holes.note(10, 14, now);
        holes.note(20, 24, now);
        holes.note_later_xid(1);
        let looks = holes.looks(false, MAX, now);
        holes.looked(&looks, &[11, 21], 21, 2);
        assert_eq!(open_ranges(&holes), [(20, 20), (22, 24)]);
    }

    #[test]
    fn the_exact_proof_waits_for_each_holder_that_could_be_the_taker() {
        let seen = Instant::now();
        let later = seen + YOUNG;
        let mut holes = Holes::default();
        holes.note(10, 10, seen);
        assert!(!holes.wants_takers(seen));
        assert!(holes.wants_takers(later));
        holes.note_takers(holders(&["3/1", "4/1"]), false, later);
        holes.note_takers(holders(&["4/1", "5/9"]), false, later);
        assert!(!holes.looks(true, MAX, later)[0].takers_are_gone);
        holes.note_takers(holders(&["5/9"]), true, later);
        assert!(!holes.looks(true, MAX, later)[0].takers_are_gone, "4/1 may be the prepared one");
        holes.note_takers(holders(&["5/9"]), false, later);
        let looks = holes.looks(true, MAX, later);
        assert!(holes.looked(&looks, &[], i64::MAX, 0));
        assert!(holes.is_empty());
    }

    #[test]
    fn many_holes_are_proven_though_they_are_young() {
        let now = Instant::now();
        let mut holes = Holes::default();
        for number in 0..=INLINE_MAX {
            assert!(!holes.wants_takers(now));
            let first = 10 * i64::try_from(number).unwrap();
            holes.note(first, first, now);
        }
        assert!(holes.wants_takers(now));
        holes.note_takers(holders(&["3/1"]), false, now);
        holes.note_takers(holders(&["4/1"]), false, now);
        let looks = holes.all_looks();
        assert!(holes.looked(&looks, &[], i64::MAX, 0));
        assert!(holes.is_empty());
    }

    #[test]
    fn old_holes_move_to_their_table_and_are_looked_at_in_turn() {
        let seen = Instant::now();
        let later = seen + YOUNG;
        let mut holes = Holes::default();
        for first in [10, 20, 30] {
            holes.note(first, first + 5, seen);
        }
        let record = holes.record(99, &BTreeSet::new(), later);
        assert_eq!(record.insert, [(10, 15), (20, 25), (30, 35)]);
        assert!(record.inline.is_empty());
        holes.recorded(record, &BTreeSet::new());
        assert!(!holes.differs(&holes.record(99, &BTreeSet::new(), later)));

        let firsts = |looks: Vec<Look>| looks.iter().map(|look| look.first).collect::<Vec<_>>();
        assert_eq!(firsts(holes.looks(false, 2, later)), [] as [i64; 0]);
        assert_eq!(firsts(holes.looks(true, 2, later)), [10, 20]);
        assert_eq!(firsts(holes.looks(true, 2, later)), [10, 30]);

        holes.find(22);
        let record = holes.record(99, &BTreeSet::from([22]), later);
        assert_eq!((record.delete, record.insert), (vec![20], vec![(20, 21), (23, 25)]));
    }

    #[test]
    fn a_hole_above_the_settled_row_is_not_recorded() {
        let now = Instant::now();
        let mut holes = Holes::default();
        holes.note(10, 14, now);
        assert!(!holes.differs(&holes.record(9, &BTreeSet::new(), now)));
    }
}
