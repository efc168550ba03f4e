//! `outbox audit`.

use super::Session;
use crate::{
    AuditFilter,
    cli::{args::AuditArgs, database::Database, failure::Failure, json, text},
};
use std::process::ExitCode;

/// Entries in memory at once.
const PAGE_MAX: u32 = 500;

/// Lists what was done, page by page.
pub(super) async fn run<S: Database>(session: Session<'_, S>, args: AuditArgs) -> Result<ExitCode, Failure> {
    let AuditArgs { stage, event, since } = args;
    let mut filter = AuditFilter { stage, event, since, after: None };
    let mut list = session.as_json.then(|| json::List::new("audit"));
    loop {
        let page = match session.outbox.audit(&filter, PAGE_MAX).await {
            Ok(page) => page,
            Err(source) => return Err(session.failed(source).await),
        };
        let Some(last) = page.last() else { break };
        match &mut list {
            Some(list) => list.audit(session.output, &page)?,
            None => text::audit(session.output, &page, filter.after.is_none())?,
        }
        session.output.finish()?;
        filter.after = Some(last.id);
    }
    if let Some(list) = list {
        list.end(session.output)?;
    }
    Ok(ExitCode::SUCCESS)
}
