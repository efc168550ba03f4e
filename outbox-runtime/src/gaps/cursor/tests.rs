//! A cursor over a log that a test fills between two of its statements.

use super::*;
use crate::envelope::{Envelope, EventId, Headers, NewEvent, Seq};
use outbox_schema::OnPoison;
use std::collections::{BTreeMap, VecDeque};
use time::OffsetDateTime;

/// Answers from `rows`; after each statement the next of `commits` becomes visible.
#[derive(Debug, Default)]
struct Script {
    rows: BTreeMap<i64, Envelope>,
    commits: VecDeque<Vec<i64>>,
}

impl Script {
    fn commit(&mut self, seqs: impl IntoIterator<Item = i64>) {
        self.rows.extend(seqs.into_iter().map(|seq| (seq, envelope(seq))));
    }

    fn next(&mut self) {
        let seqs = self.commits.pop_front().unwrap_or_default();
        self.commit(seqs);
    }
}

fn envelope(seq: i64) -> Envelope {
    let event = NewEvent {
        id: EventId::now(),
        source: "/test".to_owned(),
        topic: "t".to_owned(),
        key: Some("k".to_owned()),
        event_type: "t".to_owned(),
        event_version: 1,
        payload: String::new(),
        dataschema: String::new(),
        headers: Headers::new(),
        traceparent: None,
        tracestate: None,
        twin: None,
        on_poison: OnPoison::Park,
    };
    Envelope { seq: Seq(seq), occurred_at: OffsetDateTime::UNIX_EPOCH, event }
}

impl GapSession for Script {
    async fn check(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn check_numbered(&mut self, _seq: Seq) -> Result<(), StoreError> {
        Ok(())
    }

    async fn read_on(
        &mut self,
        _filter: &Filter,
        after: i64,
        max: i64,
        mut row: impl FnMut(Seq, Option<Envelope>) + Send,
    ) -> Result<(), StoreError> {
        let rows = self.rows.range(after + 1..).take(usize::try_from(max).unwrap());
        rows.for_each(|(seq, envelope)| row(Seq(*seq), Some(envelope.clone())));
        self.next();
        Ok(())
    }

    async fn read_holes(
        &mut self,
        _filter: &Filter,
        ranges: &[(i64, i64)],
        max: i64,
    ) -> Result<InHoles, StoreError> {
        let rows = ranges.iter().flat_map(|(first, last)| self.rows.range(first..=last));
        let rows = rows.take(usize::try_from(max).unwrap());
        let found =
            InHoles { xmin: 0, rows: rows.map(|(seq, row)| (Seq(*seq), Some(row.clone()))).collect() };
        self.next();
        Ok(found)
    }

    async fn number_holders(&mut self) -> Result<Vec<(String, bool)>, StoreError> {
        // Somebody who may yet fill any hole.
        Ok(vec![("3/1".to_owned(), false)])
    }

    async fn write(
        &mut self,
        _fence: &Fence,
        _before: i64,
        _record: Option<&Record>,
        _changes: &[Change],
    ) -> Result<Option<Written>, StoreError> {
        Ok(Some(Written { row_id: 1, xid: 1 }))
    }
}

fn begin() -> Memory<Script> {
    Memory::new(Script::default(), Progress::default())
}

async fn read(memory: &mut Memory<Script>, max: i64) -> Vec<i64> {
    let page = memory.read(&Filter::default(), max).await.unwrap();
    page.events.iter().map(|event| event.envelope.seq.0).collect()
}

#[tokio::test]
async fn a_row_that_fills_a_hole_between_two_statements_goes_before_what_was_committed_behind_it() {
    for commits in [[vec![1, 3], vec![]], [vec![], vec![1, 3]]] {
        let mut memory = begin();
        memory.session.commit([2]);
        assert_eq!(read(&mut memory, 10).await, [2]);
        // Whoever committed 3 may have waited for 1 to be committed.
        memory.session.commits = commits.into();
        let mut all = read(&mut memory, 10).await;
        all.extend(read(&mut memory, 10).await);
        assert_eq!(all, [1, 3]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_hole_is_looked_into_whenever_something_new_is_read() {
    let mut memory = begin();
    memory.session.commit([2]);
    assert_eq!(read(&mut memory, 10).await, [2]);
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(read(&mut memory, 10).await, [0; 0], "the hole was just looked into");
    memory.session.commit([1, 3]);
    assert_eq!(read(&mut memory, 10).await, [1, 3]);
}

#[tokio::test]
async fn what_was_read_waits_while_there_may_be_more_in_the_holes() {
    let mut memory = begin();
    memory.session.commit([5]);
    assert_eq!(read(&mut memory, 10).await, [5]);
    memory.session.commit([1, 2, 3, 6, 7]);
    assert_eq!(read(&mut memory, 2).await, [1, 2]);
    assert_eq!(read(&mut memory, 2).await, [3, 6]);
    assert_eq!(read(&mut memory, 2).await, [7]);
}
