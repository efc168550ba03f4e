//! Answers as text for people. Everything that a producer could have written passes through [`inert`].

use super::{
    failure::Failure,
    moment,
    output::{Columns, Output, inert},
};
use crate::{
    Cancellation, DeadLetter, EventId, Forgetting, Scheduled, dead_letter::Request, held::Stage,
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

/// What a dry run found.
pub(super) fn would_request<W: Write>(
    output: &mut Output<W>,
    request: Request,
    matched: u64,
) -> Result<(), Failure> {
    output.line(format_args!("would {} {}; nothing was asked", request.as_str(), counted(matched)))
}

/// What was asked for.
pub(super) fn requested<W: Write>(
    output: &mut Output<W>,
    request: Request,
    asked: u64,
    under_way: u64,
) -> Result<(), Failure> {
    let verb = request.as_str();
    output.line(format_args!("asked to {verb} {}, {under_way} already under way", counted(asked)))?;
    output.line("the process that leads their stage acts on them; `outbox status` shows who is led")
}

fn counted(count: u64) -> String {
    let noun = if count == 1 { "dead letter" } else { "dead letters" };
    format!("{count} {noun}")
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
            "`{stage}` is forgotten, and with it {held} held events and {}",
            counted(dead_letters)
        )),
        Forgetting::Holds { held, dead_letters } => output.line(format_args!(
            "nothing was done: `{stage}` has {held} held events and {} that were not delivered; run it to deliver them, or \
             add `--discard`",
            counted(dead_letters)
        )),
        Forgetting::Led => {
            output.line(format_args!("nothing was done: a process runs `{stage}`; stop it first"))
        }
        _ => output.line(format_args!("nothing is known of `{stage}`; `outbox status` shows those there are")),
    }
}
