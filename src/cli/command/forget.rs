//! `outbox consumers forget` and `outbox relays forget`.

use super::Session;
use crate::{
    Forgetting,
    cli::{args::ForgetArgs, database::Database, failure::Failure, json, text},
    held::Stage,
};
use std::process::ExitCode;

/// Forgets the stage; fails when it was not done.
pub(super) async fn run<S: Database>(
    session: Session<'_, S>,
    stage: &Stage,
    args: &ForgetArgs,
) -> Result<ExitCode, Failure> {
    let outcome = match session.outbox.forget(stage, args.terms().as_ref()).await {
        Ok(outcome) => outcome,
        Err(source) => return Err(session.failed(source).await),
    };
    if session.as_json {
        json::forgetting(session.output, stage, outcome)?;
    } else {
        text::forgetting(session.output, stage, outcome)?;
    }
    let is_done = matches!(outcome, Forgetting::Forgotten { .. });
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
