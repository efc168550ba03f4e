//! `outbox doctor`.

use super::Session;
use crate::{
    Tolerance,
    cli::{database::Database, failure::Failure, json, text},
};
use std::process::ExitCode;

/// Tells what is wrong; fails when something is.
pub(super) async fn run<S: Database>(session: Session<'_, S>) -> Result<ExitCode, Failure> {
    let findings = match session.outbox.examine(&Tolerance::default()).await {
        Ok(findings) => findings,
        Err(source) => return Err(session.failed(source).await),
    };
    if session.as_json {
        json::findings(session.output, &findings)?;
    } else {
        text::findings(session.output, &findings)?;
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
