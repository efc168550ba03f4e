//! `outbox status`.

use super::Session;
use crate::cli::{database::Database, failure::Failure, text};
use std::process::ExitCode;

/// Shows each stage in numbers.
pub(super) async fn run<S: Database>(session: Session<'_, S>) -> Result<ExitCode, Failure> {
    let stages = match session.outbox.store().status().await {
        Ok(stages) => stages,
        Err(source) => return Err(session.failed(source).await),
    };
    text::stages(session.output, &stages)?;
    Ok(ExitCode::SUCCESS)
}
