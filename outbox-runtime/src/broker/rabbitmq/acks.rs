//! What the caller acked and the server has not heard of: gathered, since each ack is one write of a quorum queue's log.
//!
//! One ack takes all that lies below the first held delivery with it, so what lies above is better told later: when it lies
//! below too, there are many, or nothing else is to be had. While the caller's memory is full some wait for its next ack. What
//! waits here comes again after a crash, as an ack does that is lost on its way.

use super::subscribe::Tag;
use std::{collections::BTreeSet, time::Duration};
use tokio::time::Instant;

/// How long an ack may wait for others. A handler that takes longer has each of its acks told at once.
const GATHERED_MAX: Duration = Duration::from_millis(10);

/// As many as are told at the latest, however they lie: the server sends nothing new for what it does not know to be done.
const UNTOLD_MAX: usize = 64;

/// The acks of one channel.
#[derive(Debug, Default)]
pub(super) struct Acks {
    untold: BTreeSet<Tag>,
    told_at: Option<Instant>,
}

/// What is told in one go.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// All up to this one, in one ack.
    pub(super) up_to: Option<Tag>,
    /// Others, each by its own.
    pub(super) single: Vec<Tag>,
}

impl Acks {
    /// Takes over what the caller is done with.
    pub(super) fn add(&mut self, tags: Vec<Tag>) {
        self.untold.extend(tags);
    }

    /// When these are to be told at the latest; `None`: there are none.
    pub(super) fn due_at(&self) -> Option<Instant> {
        let first = self.untold.first().and(Some(Instant::now()))?;
        Some(self.told_at.map_or(first, |told_at| told_at + GATHERED_MAX))
    }

    /// What is to be told by now, where `first_held` is the first delivery that is not acked; nothing, if others may join.
    pub(super) fn take_due(&mut self, first_held: Option<Tag>) -> Told {
        if self.untold.len() >= UNTOLD_MAX {
            return self.take_all(first_held);
        }
        match self.due_at() {
            Some(due_at) if due_at <= Instant::now() => self.take_below(first_held),
            _ => Told::default(),
        }
    }

    /// All that is untold.
    pub(super) fn take_all(&mut self, first_held: Option<Tag>) -> Told {
        let below = self.take_below(first_held);
        Told { single: std::mem::take(&mut self.untold).into_iter().collect(), ..below }
    }

    fn take_below(&mut self, first_held: Option<Tag>) -> Told {
        self.told_at = Some(Instant::now());
        let above = first_held.map_or_else(BTreeSet::new, |first_held| self.untold.split_off(&first_held));
        let below = std::mem::replace(&mut self.untold, above);
        Told { up_to: below.last().copied(), single: Vec::new() }
    }
}

impl Told {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(up_to: Option<Tag>, single: &[Tag]) -> Told {
        Told { up_to, single: single.to_vec() }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_ack_is_told_at_once_and_those_soon_after_it_together() {
        let mut acks = Acks::default();
        acks.add(vec![1]);
        assert_eq!(acks.take_due(Some(2)), told(Some(1), &[]));
        acks.add(vec![3, 2]);
        assert_eq!(acks.take_due(Some(4)), Told::default());
        tokio::time::advance(GATHERED_MAX).await;
        assert!(acks.due_at().is_some_and(|due_at| due_at <= Instant::now()));
        assert_eq!(acks.take_due(Some(4)), told(Some(3), &[]));
        assert_eq!(acks.due_at(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_lies_above_a_held_delivery_waits_for_it_until_there_are_many() {
        let mut acks = Acks::default();
        acks.add(vec![1, 3]);
        assert_eq!(acks.take_due(Some(2)), told(Some(1), &[]));
        acks.add((4..UNTOLD_MAX as Tag + 2).collect());
        tokio::time::advance(GATHERED_MAX).await;
        assert_eq!(acks.take_due(Some(2)), Told::default());
        acks.add(vec![UNTOLD_MAX as Tag + 2]);
        assert_eq!(acks.take_due(Some(2)).single.len(), UNTOLD_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_told_twice() {
        let mut acks = Acks::default();
        acks.add(vec![1, 2, 4]);
        assert_eq!(acks.take_all(Some(3)), told(Some(2), &[4]));
        assert!(acks.take_all(Some(3)).is_empty());
        acks.add(vec![3]);
        assert_eq!(acks.take_all(None), told(Some(3), &[]));
    }
}
