//! Whether one history kept the promises.

use super::database::View;
use super::event::{SHARED, name_of};
use super::worker::{BROKER_CONSUMER, LOCAL_CONSUMER, RELAY};
use super::world::World;
use crate::history::{Fate, History, Reader};
use std::fmt::Write;

/// Decides it, from what was recorded and what stands in the tables at the end.
///
/// # Errors
/// The fault with its story.
pub(super) fn decide(world: &World) -> Result<(), String> {
    let shared = vec![SHARED.to_owned()];
    let readers = [
        Reader::relay(RELAY),
        Reader { topics: shared.clone(), ..Reader::consumer(LOCAL_CONSUMER) },
        Reader { topics: shared, behind: Some(RELAY.to_owned()), ..Reader::consumer(BROKER_CONSUMER) },
    ];
    let mut history = History::new(readers);
    world.fill(&mut history);
    let database = world.database();
    let snapshot = database.txs.snapshot();
    let view = View { txs: &database.txs, snapshot: &snapshot, own: None };
    let now = world.now();
    for ((stage, ..), held) in database.tables.held.iter(&view) {
        history.record(now, Fate::Held.of(stage, &name_of(&held.envelope)));
    }
    for ((stage, _), dead) in database.tables.dead.iter(&view) {
        let fate = if dead.parks_key { Fate::Parked } else { Fate::Skipped };
        history.record(now, fate.of(stage, &name_of(&dead.envelope)));
    }
    history.check().map_err(|fault| fault.to_string())
}

/// The tables, for who looks into a history that did not settle.
pub(super) fn state_of(world: &World) -> String {
    let database = world.database();
    let snapshot = database.txs.snapshot();
    let view = View { txs: &database.txs, snapshot: &snapshot, own: None };
    let tables = &database.tables;
    let mut text = String::new();
    let mut line = |what: String| writeln!(text, "  {what}").expect("a string takes any text");
    line(format!("log to {:?}", tables.log.iter(&view).map(|(seq, _)| *seq).next_back()));
    for stage in [RELAY, LOCAL_CONSUMER] {
        line(format!("{stage}: {:?}", super::store::progress::newest(tables, &view, stage)));
        line(format!(
            "  holes {:?}",
            super::store::progress::holes(tables, &view, stage).collect::<Vec<_>>()
        ));
    }
    tables.waiting.iter(&view).for_each(|(key, mark)| line(format!("waits: {key:?} {mark:?}")));
    tables.held.iter(&view).for_each(|(key, row)| line(format!("held: {key:?} {}", row.attempts)));
    tables.dead.iter(&view).for_each(|(key, row)| line(format!("dead: {key:?} {}", row.reason)));
    tables.request.iter(&view).for_each(|(key, request)| line(format!("asked: {key:?} {request:?}")));
    text
}
