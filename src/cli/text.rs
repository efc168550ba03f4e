//! Answers as text for people. Everything that a producer could have written passes through [`inert`].

use super::{
    address::Address,
    command::{Asked, Requested},
    database::{Connector, Repaired},
    failure::Failure,
    moment,
    output::{Columns, Output, inert},
};
use crate::{
    Cancellation, DeadLetter, EventId, Finding, Forgetting, Scheduled,
    dead_letter::{AuditEntry, DeadLetterCount},
    held::Stage,
    range::{Range, RangePlan, RangeReplay},
    store::StageStatus,
};
use std::{borrow::Cow, io::Write};

/// The longest cell that shows text of others, in characters.
const CELL_CHARS_MAX: usize = 60;

/// A row for each stage.
pub(super) fn stages<W: Write>(output: &mut Output<W>, stages: &[StageStatus]) -> Result<(), Failure> {
    if stages.is_empty() {
        return output.line("no relay or consumer has worked on this database yet");
    }
    let mut columns =
        Columns::new(["STAGE", "LAG", "HELD", "WAITING KEYS", "PARKED KEYS", "DEAD LETTERS", "LED"]);
    let rows: Vec<[String; 7]> = stages.iter().map(stage_row).collect();
    rows.iter().for_each(|row| columns.fit(row));
    output.line(columns.heading())?;
    rows.iter().try_for_each(|row| output.line(columns.row(row)))
}

fn stage_row(status: &StageStatus) -> [String; 7] {
    [
        inert(status.stage.as_str()).into_owned(),
        status.lag.map_or_else(|| "-".to_owned(), |lag| lag.to_string()),
        status.held.to_string(),
        status.waiting_keys.to_string(),
        status.parked_keys.to_string(),
        status.dead_letters.to_string(),
        if status.led { "yes" } else { "no" }.to_owned(),
    ]
}

/// A list that is written page by page under one heading.
#[derive(Default)]
pub(super) struct DeadLetterList {
    columns: Option<Columns<9>>,
}

impl DeadLetterList {
    /// Writes the rows of a page. Columns only grow, so a later page may stand a little further to the right.
    pub(super) fn page<W: Write>(
        &mut self,
        output: &mut Output<W>,
        page: &[DeadLetter],
    ) -> Result<(), Failure> {
        let rows: Vec<[String; 9]> = page.iter().map(list_row).collect();
        let is_first = self.columns.is_none();
        let columns = self.columns.get_or_insert_with(|| {
            Columns::new([
                "ID",
                "STAGE",
                "TYPE",
                "VERSION",
                "KEY",
                "REASON",
                "ATTEMPTS",
                "LAST FAILED",
                "STATE",
            ])
        });
        rows.iter().for_each(|row| columns.fit(row));
        if is_first {
            output.line(columns.heading())?;
        }
        rows.iter().try_for_each(|row| output.line(columns.row(row)))
    }
}

fn list_row(dead: &DeadLetter) -> [String; 9] {
    [
        dead.id.to_string(),
        cell(dead.stage.as_str()),
        cell(&dead.envelope.event_type),
        dead.envelope.event_version.to_string(),
        dead.envelope.key.as_deref().map_or_else(|| "-".to_owned(), cell),
        cell(&dead.reason),
        dead.attempts.to_string(),
        moment::shown(dead.last_failed_at),
        state(dead).to_owned(),
    ]
}

fn state(dead: &DeadLetter) -> &'static str {
    match (dead.replaying, dead.parks_key) {
        (true, _) => "replaying",
        (false, true) => "key waits",
        (false, false) => "-",
    }
}

fn cell(text: &str) -> String {
    let text = inert(text);
    match text.char_indices().nth(CELL_CHARS_MAX) {
        Some(_) => text.chars().take(CELL_CHARS_MAX - 1).chain(['…']).collect(),
        None => text.into_owned(),
    }
}

/// Everything about one.
pub(super) fn dead_letter<W: Write>(output: &mut Output<W>, dead: &DeadLetter) -> Result<(), Failure> {
    let event = &dead.envelope;
    let key: Cow<'_, str> = event.key.as_deref().map_or("none (unordered)".into(), inert);
    let mut field = |name: &str, value: &str| output.line(format_args!("{name:<14}{value}"));
    field("dead letter", &dead.id.to_string())?;
    field("stage", &inert(dead.stage.as_str()))?;
    field("state", state(dead))?;
    field("reason", &inert(&dead.reason))?;
    field("attempts", &dead.attempts.to_string())?;
    field("first failed", &moment::shown(dead.first_failed_at))?;
    field("last failed", &moment::shown(dead.last_failed_at))?;
    field("event", &event.id.to_string())?;
    field("type", &format!("{} version {}", inert(&event.event_type), event.event_version))?;
    field("source", &inert(&event.source))?;
    field("topic", &inert(&event.topic))?;
    field("key", &key)?;
    field("sequence", &event.seq.to_string())?;
    field("occurred", &moment::shown(event.occurred_at))?;
    field("schema", &inert(&event.dataschema))?;
    for (name, value) in &event.headers {
        field("header", &format!("{}: {}", inert(name), inert(value)))?;
    }
    if let Some(traceparent) = &event.traceparent {
        field("traceparent", &inert(traceparent))?;
    }
    for (line, text) in dead.error_chain.lines().enumerate() {
        field(if line == 0 { "error" } else { "" }, &inert(text))?;
    }
    field("payload", &inert(&event.payload))?;
    output.line("")
}

/// What was asked for, or would be, with its parts.
pub(super) fn requested<W: Write>(output: &mut Output<W>, answer: &Requested) -> Result<(), Failure> {
    let Requested { asked, dry_run, matched, reached, groups } = answer;
    let (verb, rest) = (asked.as_str(), matched.saturating_sub(*reached));
    let left_out = match asked {
        Asked::Request(_) => format!("{rest} already under way"),
        Asked::Cancel => format!("nothing is asked of {rest} others"),
    };
    if *dry_run {
        counts(output, groups)?;
        return output.line(format_args!(
            "would {verb} {}, {left_out}; nothing was changed",
            of_asked(*asked, *reached)
        ));
    }
    match asked {
        Asked::Cancel => output.line(format_args!("took back {}, {left_out}", of_asked(*asked, *reached))),
        Asked::Request(_) => {
            output.line(format_args!("asked to {verb} {}, {left_out}", of_asked(*asked, *reached)))?;
            output.line("the process that leads their stage acts on them; `outbox status` shows who is led")
        }
    }
}

fn of_asked(asked: Asked, count: u64) -> String {
    match (asked, count) {
        (Asked::Request(_), count) => dead_letters(count),
        (Asked::Cancel, count) => counted(count, "request", "requests"),
    }
}

fn dead_letters(count: u64) -> String {
    counted(count, "dead letter", "dead letters")
}

fn held_events(count: u64) -> String {
    counted(count, "held event", "held events")
}

/// So many of something, where `one` and `many` tell of what and go on.
fn counted(count: u64, one: &str, many: &str) -> String {
    let what = if count == 1 { one } else { many };
    format!("{count} {what}")
}

fn counts<W: Write>(output: &mut Output<W>, groups: &[DeadLetterCount]) -> Result<(), Failure> {
    let mut columns =
        Columns::new(["STAGE", "TYPE", "VERSION", "REASON", "COUNT", "UNDER WAY", "PARK THEIR KEY"]);
    let rows: Vec<[String; 7]> = groups
        .iter()
        .map(|group| {
            [
                cell(group.stage.as_str()),
                cell(&group.event_type),
                group.event_version.to_string(),
                cell(&group.reason),
                group.count.to_string(),
                (group.requested + group.replaying).to_string(),
                group.parking.to_string(),
            ]
        })
        .collect();
    rows.iter().for_each(|row| columns.fit(row));
    output.line(columns.heading())?;
    rows.iter().try_for_each(|row| output.line(columns.row(row)))
}

/// A page of the audit log; the heading goes before the first.
pub(super) fn audit<W: Write>(
    output: &mut Output<W>,
    page: &[AuditEntry],
    is_first: bool,
) -> Result<(), Failure> {
    let mut columns = Columns::new([
        "DONE",
        "ACTION",
        "BY",
        "WHY",
        "STAGE",
        "DEAD LETTER",
        "EVENT",
        "TYPE",
        "KEY",
        "REASON",
    ]);
    let rows: Vec<[String; 10]> = page
        .iter()
        .map(|entry| {
            [
                moment::shown(entry.done_at),
                entry.action.as_str().to_owned(),
                cell(&entry.asked_by),
                cell(&entry.why),
                cell(entry.stage.as_str()),
                entry.dead_letter.map_or_else(|| "-".to_owned(), |number| number.to_string()),
                entry.event.to_string(),
                cell(&entry.event_type),
                entry.key.as_deref().map_or_else(|| "-".to_owned(), cell),
                cell(&entry.reason),
            ]
        })
        .collect();
    rows.iter().for_each(|row| columns.fit(row));
    if is_first {
        output.line(columns.heading())?;
    }
    rows.iter().try_for_each(|row| output.line(columns.row(row)))
}

/// What a replay of a range is to reach, or would.
pub(super) fn range_planned<W: Write>(
    output: &mut Output<W>,
    range: &Range,
    id: Option<i64>,
    plan: &RangePlan,
) -> Result<(), Failure> {
    if let Some((first, last)) = plan.seqs {
        let matched = counted(plan.matched, "event matches", "events match");
        output.line(format_args!("{matched}, from sequence {first} to {last}"))?;
    }
    if plan.handled > 0 {
        let fate = if range.again { "handled again" } else { "left out" };
        let handled = counted(
            plan.handled,
            "of them was handled already and is",
            "of them were handled already and are",
        );
        output.line(format_args!("{handled} {fate}"))?;
    }
    if plan.dead > 0 {
        let dead = counted(plan.dead, "of them is a dead letter and is", "of them are dead letters and are");
        output.line(format_args!("{dead} left out"))?;
    }
    let stage = inert(range.stage.as_str());
    match id {
        Some(id) => output.line(format_args!(
            "replay {id} takes up {} for `{stage}`; `outbox replay list` shows how far it is",
            plan.open
        )),
        None => output.line(format_args!(
            "{} to be replayed to `{stage}`; nothing was asked",
            counted(plan.open, "is", "are")
        )),
    }
}

/// The replays of ranges and how far they are.
pub(super) fn range_replays<W: Write>(
    output: &mut Output<W>,
    replays: &[RangeReplay],
) -> Result<(), Failure> {
    if replays.is_empty() {
        return output.line("no range of the log was replayed yet");
    }
    let mut columns =
        Columns::new(["ID", "STAGE", "STATE", "MATCHED", "TAKEN UP", "LEFT OUT", "ASKED", "BY", "WHY"]);
    let rows: Vec<[String; 9]> = replays
        .iter()
        .map(|replay| {
            [
                replay.id.to_string(),
                cell(replay.stage.as_str()),
                replay.state.as_str().to_owned(),
                replay.matched.to_string(),
                replay.taken.to_string(),
                replay.left_out.to_string(),
                moment::shown(replay.asked_at),
                cell(&replay.asked_by),
                cell(&replay.why),
            ]
        })
        .collect();
    rows.iter().for_each(|row| columns.fit(row));
    output.line(columns.heading())?;
    rows.iter().try_for_each(|row| output.line(columns.row(row)))
}

/// That the tables suit this build.
pub(super) fn migrated<W: Write>(output: &mut Output<W>, address: &Address) -> Result<(), Failure> {
    output.line(format_args!("the tables in `{address}` are those of this build"))
}

/// What a repair did.
pub(super) fn repaired<W: Write>(output: &mut Output<W>, done: Option<&Repaired>) -> Result<(), Failure> {
    let Some(Repaired { next_seq, rereading }) = done else {
        return output.line(
            "nothing to repair: this database has one writer, and its numbers are restored with its rows",
        );
    };
    output.line(format_args!("the next event gets the number {next_seq}"))?;
    rereading.iter().try_for_each(|stage| {
        let stage = inert(stage.as_str());
        output
            .line(format_args!("`{stage}` reads the whole log again: it had settled numbers yet to be given"))
    })
}

/// A connector of Debezium: statements for the database, then a file of settings for Kafka Connect.
pub(super) fn connector<W: Write>(output: &mut Output<W>, connector: &Connector) -> Result<(), Failure> {
    output.line("-- in the database, once, as the role that owns the tables")?;
    connector.publication.lines().try_for_each(|line| output.line(inert(line)))?;
    output.line("")?;
    output
        .line("# in Kafka Connect, as a file of properties; `--json` gives what its HTTP interface takes")?;
    output.text(&connector.properties)
}

/// A list of scheduled events that is written page by page under one heading.
#[derive(Default)]
pub(super) struct ScheduledList {
    columns: Option<Columns<5>>,
}

impl ScheduledList {
    /// Writes the rows of a page.
    pub(super) fn page<W: Write>(
        &mut self,
        output: &mut Output<W>,
        page: &[Scheduled],
    ) -> Result<(), Failure> {
        let rows: Vec<[String; 5]> = page.iter().map(scheduled_row).collect();
        let is_first = self.columns.is_none();
        let columns =
            self.columns.get_or_insert_with(|| Columns::new(["EVENT", "DUE", "TYPE", "VERSION", "KEY"]));
        rows.iter().for_each(|row| columns.fit(row));
        if is_first {
            output.line(columns.heading())?;
        }
        rows.iter().try_for_each(|row| output.line(columns.row(row)))
    }
}

fn scheduled_row(one: &Scheduled) -> [String; 5] {
    [
        one.event.id.to_string(),
        moment::shown(one.due),
        cell(&one.event.event_type),
        one.event.event_version.to_string(),
        one.event.key.as_deref().map_or_else(|| "-".to_owned(), cell),
    ]
}

/// What became of the cancellation of one event.
pub(super) fn cancellation<W: Write>(
    output: &mut Output<W>,
    id: EventId,
    answer: Cancellation,
) -> Result<(), Failure> {
    let answer = match answer {
        Cancellation::Cancelled => "cancelled",
        Cancellation::TooLate => "too late: it is published, or about to be",
        _ => "no event of this id waits: it was cancelled before, or never scheduled",
    };
    output.line(format_args!("{id}  {answer}"))
}

/// What became of a stage that was to be forgotten.
pub(super) fn forgetting<W: Write>(
    output: &mut Output<W>,
    stage: &Stage,
    outcome: Forgetting,
) -> Result<(), Failure> {
    let stage = inert(stage.as_str());
    match outcome {
        Forgetting::Forgotten { held: 0, dead_letters: 0 } => {
            output.line(format_args!("`{stage}` is forgotten; the log is no longer kept for it"))
        }
        Forgetting::Forgotten { held, dead_letters } => output.line(format_args!(
            "`{stage}` is forgotten, and with it {} and {}",
            held_events(held),
            self::dead_letters(dead_letters)
        )),
        Forgetting::Holds { held, dead_letters } => output.line(format_args!(
            "nothing was done: `{stage}` has {} and {} that were not delivered; run it to deliver them, or \
             add `--discard`",
            held_events(held),
            self::dead_letters(dead_letters)
        )),
        Forgetting::Led => {
            output.line(format_args!("nothing was done: a process runs `{stage}`; stop it first"))
        }
        _ => {
            output.line(format_args!("nothing is known of `{stage}`; `outbox status` shows those there are"))
        }
    }
}

/// What is wrong, why it matters and what to do.
pub(super) fn findings<W: Write>(output: &mut Output<W>, findings: &[Finding]) -> Result<(), Failure> {
    if findings.is_empty() {
        return output.line("nothing is wrong");
    }
    findings.iter().try_for_each(|finding| {
        output.line(format_args!("{}: {}", finding.code, inert(&finding.about)))?;
        output.line(format_args!("  what  {}", inert(&finding.problem)))?;
        output.line(format_args!("  why   {}", finding.why))?;
        output.line(format_args!("  fix   {}", inert(&finding.fix)))
    })
}
