//! `outbox repair`.

use super::Session;
use crate::cli::{database::Database, failure::Failure};
use std::process::ExitCode;

/// Mends what a restore or a promotion broke.
pub(super) async fn run<S: Database>(session: Session<'_, S>) -> Result<ExitCode, Failure> {
    let done = session
        .outbox
        .store()
        .repair()
        .await
        .map_err(|source| Failure::Store { address: session.address.clone(), source: source.into() })?;
    session.output.line(done)?;
    Ok(ExitCode::SUCCESS)
}
