//! `outbox repair`.

use super::Session;
use crate::cli::{database::Database, failure::Failure, json, text};
use std::process::ExitCode;

/// Mends what a restore or a promotion broke.
pub(super) async fn run<S: Database>(session: Session<'_, S>) -> Result<ExitCode, Failure> {
    let done = session
        .outbox
        .store()
        .repair()
        .await
        .map_err(|source| Failure::Store { address: session.address.clone(), source: source.into() })?;
    if session.as_json {
        json::repaired(session.output, done.as_ref())?;
    } else {
        text::repaired(session.output, done.as_ref())?;
    }
    Ok(ExitCode::SUCCESS)
}
