//! Writing events, and reading them.

use crate::sim::Mutation;
use crate::sim::database::{LogRow, Snapshot, Tables, TxId, View};
use crate::sim::server::{Statement, passing};
use crate::sim::world::World;
use outbox::StoreError;
use outbox::cursor::Filter;
use outbox::envelope::{Envelope, NewEvent, Seq};
use outbox_runtime::gaps::InHoles;
use std::sync::Arc;
use tokio::time::sleep;

/// How many numbers a session takes at once where that is the mistake.
const CACHE: i64 = 4;

/// Numbers and writes each event. The id of the transaction comes first, the number second, the row last, and between any
/// two of them others go on.
pub(super) async fn insert(world: Arc<World>, tx: TxId, events: Vec<NewEvent>) -> Result<(), StoreError> {
    let statement = Statement::begin(&world, tx)?;
    if let Some(open) = world.database().txs.open.get_mut(&tx) {
        open.is_synchronous |= world.mutation != Mutation::CommitNotDurable;
    }
    for event in events {
        if world.mutation != Mutation::NumberBeforeXid {
            statement.xid()?;
            world.pause().await;
        }
        let seq = next_number(&world, tx);
        world.tell(|| format!("number {seq} is for {}", event.payload));
        if world.in_1000(100) {
            // A slow trigger.
            sleep(world.millis(50..1_500)).await;
        }
        let write = |tables: &mut Tables, view: &View<'_>| {
            let row = LogRow { event: event.clone(), occurred_at: world.now() };
            tables.log.insert(view, seq, row)
        };
        if !statement.write(write).await? {
            return Err(passing("write an event", "a number came twice"));
        }
    }
    Ok(())
}

fn next_number(world: &World, tx: TxId) -> i64 {
    let mut database = world.database();
    let Some(open) = database.txs.open.get_mut(&tx) else { return database.sequence.next() };
    open.has_number = true;
    if world.mutation != Mutation::NumbersCached {
        return database.sequence.next();
    }
    let process = open.process;
    let mut cache = world.cached_numbers();
    let cached = cache.entry(process).or_default();
    if cached.is_empty() {
        cached.extend((0..CACHE).map(|_| database.sequence.next()));
    }
    cached.remove(0)
}

/// The event in a row, if the filter wants it.
fn wanted(filter: &Filter, seq: i64, row: &LogRow) -> Option<Envelope> {
    filter.wants(&row.event).then(|| Envelope {
        seq: Seq(seq),
        occurred_at: super::moment(row.occurred_at),
        event: row.event.clone(),
    })
}

/// The next rows after a number.
pub(super) async fn read_on(
    world: Arc<World>,
    tx: TxId,
    filter: Filter,
    after: i64,
    max: usize,
) -> Result<Vec<(Seq, Option<Envelope>)>, StoreError> {
    let statement = Statement::begin(&world, tx)?;
    statement
        .read(|tables, view| {
            let rows = tables.log.range(view, after + 1..).take(max);
            rows.map(|(seq, row)| (Seq(*seq), wanted(&filter, *seq, row))).collect()
        })
        .await
}

/// The rows in holes, and the lowest transaction that was open when they were looked for.
pub(super) async fn read_holes(
    world: Arc<World>,
    tx: TxId,
    filter: Filter,
    ranges: Vec<(i64, i64)>,
    max: usize,
    earlier: Option<Snapshot>,
) -> Result<InHoles, StoreError> {
    let mut statement = Statement::begin(&world, tx)?;
    if let (Some(earlier), Mutation::HolesBeforeRows) = (earlier, world.mutation) {
        statement.snapshot = earlier;
    }
    let is_filtered = world.mutation == Mutation::HolesFiltered;
    let find = |tables: &Tables, view: &View<'_>| {
        let rows = ranges.iter().flat_map(|(first, last)| tables.log.range(view, *first..=*last));
        let rows = rows.map(|(seq, row)| (Seq(*seq), wanted(&filter, *seq, row)));
        rows.filter(|(_, envelope)| !is_filtered || envelope.is_some()).take(max).collect()
    };
    let rows = statement.read(find).await?;
    let snapshot = match world.mutation {
        Mutation::XminAfterRows => {
            world.pause().await;
            Statement::begin(&world, tx)?.snapshot
        }
        _ => statement.snapshot,
    };
    Ok(InHoles { xmin: snapshot.xmin() as i64, rows })
}
