//! `outbox migrate`.

use super::Session;
use crate::{
    StoreError,
    cli::{database::Database, failure::Failure, json, text},
};
use std::process::ExitCode;

/// Creates or updates the tables, and checks them.
pub(super) async fn run<S: Database>(session: Session<'_, S>) -> Result<ExitCode, Failure> {
    let store = session.outbox.store();
    let failed =
        |source: StoreError| Failure::Store { address: session.address.clone(), source: source.into() };
    store.migrate().await.map_err(failed)?;
    store.check().await.map_err(failed)?;
    if session.as_json {
        json::migrated(session.output, &session.address)?;
    } else {
        text::migrated(session.output, &session.address)?;
    }
    Ok(ExitCode::SUCCESS)
}
