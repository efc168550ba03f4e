//! Answers as JSON for scripts: one object, on one line. Names stay; new members may come.
//!
//! Numbers of the log and ids of events are texts, since many readers of JSON round large numbers. Times are RFC 3339. What
//! `docs/command-line.md` describes is what stands here.

use super::{
    address::Address,
    command::Requested,
    database::{Connector, Repaired},
    failure::Failure,
    moment,
    output::Output,
};
use crate::{
    Cancellation, DeadLetter, EventId, Finding, Forgetting, Scheduled,
    dead_letter::AuditEntry,
    held::Stage,
    range::{Range, RangePlan, RangeReplay},
    store::StageStatus,
};
use serde_json::{Map, Value, json};
use std::io::Write;

/// All stages. What reads no log has no lag.
pub(super) fn stages<W: Write>(output: &mut Output<W>, stages: &[StageStatus]) -> Result<(), Failure> {
    let stages: Vec<_> = stages
        .iter()
        .map(|status| {
            json!({
                "stage": status.stage.as_str(),
                "lag": status.lag,
                "held": status.held,
                "waitingKeys": status.waiting_keys,
                "parkedKeys": status.parked_keys,
                "deadLetters": status.dead_letters,
                "led": status.led,
            })
        })
        .collect();
    output.json(&json!({ "stages": stages }))
}

/// A list that is written page by page, as one object with one member. Nothing is written before there is an answer, so a
/// failure leaves no half of one.
pub(super) struct List {
    name: &'static str,
    is_begun: bool,
}

impl List {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, is_begun: false }
    }

    /// Writes what stands before the next value, or before the end.
    fn begin<W: Write>(&mut self, output: &mut Output<W>, separator: &str) -> Result<(), Failure> {
        match std::mem::replace(&mut self.is_begun, true) {
            true => output.text(separator),
            false => output.text(format_args!("{{\"{}\":[", self.name)),
        }
    }

    fn push<W: Write>(&mut self, output: &mut Output<W>, value: &Value) -> Result<(), Failure> {
        self.begin(output, ",")?;
        output.json_part(value)
    }

    pub(super) fn dead_letters<W: Write>(
        &mut self,
        output: &mut Output<W>,
        page: &[DeadLetter],
    ) -> Result<(), Failure> {
        page.iter().try_for_each(|dead| self.push(output, &Value::Object(listed(dead))))
    }

    pub(super) fn audit<W: Write>(
        &mut self,
        output: &mut Output<W>,
        page: &[AuditEntry],
    ) -> Result<(), Failure> {
        page.iter().try_for_each(|entry| self.push(output, &audited(entry)))
    }

    pub(super) fn scheduled<W: Write>(
        &mut self,
        output: &mut Output<W>,
        page: &[Scheduled],
    ) -> Result<(), Failure> {
        page.iter().try_for_each(|one| self.push(output, &planned(one)))
    }

    pub(super) fn end<W: Write>(mut self, output: &mut Output<W>) -> Result<(), Failure> {
        self.begin(output, "")?;
        output.line("]}")
    }
}

fn audited(entry: &AuditEntry) -> Value {
    json!({
        "id": entry.id,
        "action": entry.action.as_str(),
        "by": entry.asked_by,
        "why": entry.why,
        "askedAt": moment::exact(entry.asked_at),
        "doneAt": moment::exact(entry.done_at),
        "stage": entry.stage.as_str(),
        "deadLetter": entry.dead_letter,
        "event": entry.event.to_string(),
        "type": entry.event_type,
        "version": entry.event_version,
        "topic": entry.topic,
        "key": entry.key,
        "source": entry.source,
        "sequence": entry.seq.to_string(),
        "reason": entry.reason,
        "attempts": entry.attempts,
    })
}

/// Everything about each, payloads included.
pub(super) fn dead_letters_in_full<W: Write>(
    output: &mut Output<W>,
    letters: &[DeadLetter],
) -> Result<(), Failure> {
    let letters: Vec<_> = letters.iter().map(|dead| Value::Object(in_full(dead))).collect();
    output.json(&json!({ "deadLetters": letters }))
}

/// What a list tells of one: nothing that a handler or a producer wrote at length.
fn listed(dead: &DeadLetter) -> Map<String, Value> {
    let event = &dead.envelope;
    members(json!({
        "id": dead.id,
        "stage": dead.stage.as_str(),
        "event": event.id.to_string(),
        "type": event.event_type,
        "version": event.event_version,
        "topic": event.topic,
        "key": event.key,
        "source": event.source,
        "sequence": event.seq.to_string(),
        "reason": dead.reason,
        "attempts": dead.attempts,
        "firstFailedAt": moment::exact(dead.first_failed_at),
        "lastFailedAt": moment::exact(dead.last_failed_at),
        "parksKey": dead.parks_key,
        "replaying": dead.replaying,
    }))
}

fn in_full(dead: &DeadLetter) -> Map<String, Value> {
    let event = &dead.envelope;
    let mut all = listed(dead);
    all.extend(members(json!({
        "errors": dead.error_chain.lines().collect::<Vec<_>>(),
        "occurredAt": moment::exact(event.occurred_at),
        "dataschema": event.dataschema,
        "headers": event.headers,
        "traceparent": event.traceparent,
        "tracestate": event.tracestate,
        "payload": event.payload,
    })));
    all
}

/// What was asked of dead letters, or would be.
pub(super) fn requested<W: Write>(output: &mut Output<W>, answer: &Requested) -> Result<(), Failure> {
    output.json(&json!({
        "request": answer.asked.as_str(),
        "dryRun": answer.dry_run,
        "matched": answer.matched,
        "reached": answer.reached,
        "groups": answer.groups,
    }))
}

/// What a replay of a range is to reach, or would.
pub(super) fn range_planned<W: Write>(
    output: &mut Output<W>,
    range: &Range,
    id: Option<i64>,
    plan: &RangePlan,
    dry_run: bool,
) -> Result<(), Failure> {
    output.json(&json!({
        "replay": id,
        "dryRun": dry_run,
        "stage": range.stage.as_str(),
        "matched": plan.matched,
        "handled": plan.handled,
        "deadLetters": plan.dead,
        "open": plan.open,
        "firstSequence": plan.seqs.map(|(first, _)| first.to_string()),
        "lastSequence": plan.seqs.map(|(_, last)| last.to_string()),
    }))
}

/// The replays of ranges and how far they are.
pub(super) fn range_replays<W: Write>(
    output: &mut Output<W>,
    replays: &[RangeReplay],
) -> Result<(), Failure> {
    let replays: Vec<_> = replays
        .iter()
        .map(|replay| {
            json!({
                "id": replay.id,
                "stage": replay.stage.as_str(),
                "state": replay.state.as_str(),
                "matched": replay.matched,
                "taken": replay.taken,
                "leftOut": replay.left_out,
                "firstSequence": replay.seqs.0.to_string(),
                "lastSequence": replay.seqs.1.to_string(),
                "by": replay.asked_by,
                "why": replay.why,
                "askedAt": moment::exact(replay.asked_at),
                "endedAt": replay.ended_at.map(moment::exact),
            })
        })
        .collect();
    output.json(&json!({ "replays": replays }))
}

/// Whether the rest of a replay was taken back.
pub(super) fn range_cancelled<W: Write>(
    output: &mut Output<W>,
    id: i64,
    cancelled: bool,
) -> Result<(), Failure> {
    output.json(&json!({ "replay": id, "cancelled": cancelled }))
}

/// That the tables suit this build.
pub(super) fn migrated<W: Write>(output: &mut Output<W>, address: &Address) -> Result<(), Failure> {
    output.json(&json!({ "database": address.to_string(), "migrated": true }))
}

/// That a relay ended as it was told to.
pub(super) fn relay_stopped<W: Write>(output: &mut Output<W>, name: &str) -> Result<(), Failure> {
    output.json(&json!({ "relay": name, "stopped": true }))
}

pub(super) fn upkeep_stopped<W: Write>(output: &mut Output<W>) -> Result<(), Failure> {
    output.json(&json!({ "upkeep": true, "stopped": true }))
}

/// What a repair did.
pub(super) fn repaired<W: Write>(output: &mut Output<W>, done: Option<&Repaired>) -> Result<(), Failure> {
    let rereading = done.map_or(&[][..], |done| &done.rereading);
    output.json(&json!({
        "nextSequence": done.map(|done| done.next_seq.to_string()),
        "rereading": rereading.iter().map(|stage| stage.as_str()).collect::<Vec<_>>(),
    }))
}

/// A connector of Debezium: `connector` is what the HTTP interface of Kafka Connect takes to make it.
pub(super) fn connector<W: Write>(output: &mut Output<W>, connector: &Connector) -> Result<(), Failure> {
    let mut config: Map<String, Value> =
        connector.settings.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    let name = config.remove("name");
    output.json(&json!({
        "publication": connector.publication,
        "connector": { "name": name, "config": config },
    }))
}

fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn planned(one: &Scheduled) -> Value {
    json!({
        "event": one.event.id.to_string(),
        "dueAt": moment::exact(one.due),
        "source": one.event.source,
        "topic": one.event.topic,
        "type": one.event.event_type,
        "version": one.event.event_version,
        "key": one.event.key,
    })
}

/// What became of the cancellation of each event.
pub(super) fn cancellations<W: Write>(
    output: &mut Output<W>,
    answers: &[(EventId, Cancellation)],
) -> Result<(), Failure> {
    let answers: Vec<_> = answers
        .iter()
        .map(|(id, answer)| {
            let result = match answer {
                Cancellation::Cancelled => "cancelled",
                Cancellation::TooLate => "too-late",
                _ => "unknown",
            };
            json!({ "event": id.to_string(), "result": result })
        })
        .collect();
    output.json(&json!({ "cancellations": answers }))
}

/// What became of a stage that was to be forgotten.
pub(super) fn forgetting<W: Write>(
    output: &mut Output<W>,
    stage: &Stage,
    outcome: Forgetting,
) -> Result<(), Failure> {
    let (result, held, dead_letters) = match outcome {
        Forgetting::Forgotten { held, dead_letters } => ("forgotten", held, dead_letters),
        Forgetting::Holds { held, dead_letters } => ("holds-events", held, dead_letters),
        Forgetting::Led => ("led", 0, 0),
        _ => ("unknown", 0, 0),
    };
    output.json(&json!({
        "stage": stage.as_str(),
        "result": result,
        "held": held,
        "deadLetters": dead_letters,
    }))
}

/// What is wrong.
pub(super) fn findings<W: Write>(output: &mut Output<W>, findings: &[Finding]) -> Result<(), Failure> {
    let findings: Vec<_> = findings
        .iter()
        .map(|finding| {
            json!({
                "code": finding.code,
                "about": finding.about,
                "problem": finding.problem,
                "why": finding.why,
                "fix": finding.fix,
            })
        })
        .collect();
    output.json(&json!({ "findings": findings }))
}
