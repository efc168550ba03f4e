//! `outbox status`.

use super::Session;
use crate::cli::{database::Database, failure::Failure, json, text};
use std::process::ExitCode;

/// Shows each stage in numbers.
pub(super) async fn run<S: Database>(session: Session<'_, S>) -> Result<ExitCode, Failure> {
    let stages = match session.outbox.store().status().await {
        Ok(stages) => stages,
        Err(source) => return Err(session.failed(source).await),
    };
    if session.as_json {
        json::stages(session.output, &stages)?;
    } else {
        text::stages(session.output, &stages)?;
    }
    Ok(ExitCode::SUCCESS)
}
