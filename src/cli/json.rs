//! Answers as JSON for scripts: one object, on one line. Names stay; new members may come.

use super::{failure::Failure, output::Output};
use crate::store::StageStatus;
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
