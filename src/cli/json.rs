//! Answers as JSON for scripts: one object on one line, of lists one for each row. Names stay; new members may come.

use super::{failure::Failure, moment, output::Output};
use crate::{Cancellation, EventId, Forgetting, Scheduled, held::Stage, store::StageStatus};
use serde_json::json;
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
    output.line(json!({ "stages": stages }))
}

/// A line for each scheduled event.
pub(super) fn scheduled<W: Write>(output: &mut Output<W>, page: &[Scheduled]) -> Result<(), Failure> {
    page.iter().try_for_each(|one| {
        output.line(json!({
            "id": one.event.id.to_string(),
            "due": moment::exact(one.due),
            "source": one.event.source,
            "topic": one.event.topic,
            "type": one.event.event_type,
            "version": one.event.event_version,
            "key": one.event.key,
        }))
    })
}

/// What became of the cancellation of one event.
pub(super) fn cancellation<W: Write>(
    output: &mut Output<W>,
    id: EventId,
    answer: Cancellation,
) -> Result<(), Failure> {
    let answer = match answer {
        Cancellation::Cancelled => "cancelled",
        Cancellation::TooLate => "too-late",
        _ => "unknown",
    };
    output.line(json!({ "id": id.to_string(), "result": answer }))
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
    output.line(json!({
        "stage": stage.as_str(),
        "result": result,
        "held": held,
        "deadLetters": dead_letters,
    }))
}
