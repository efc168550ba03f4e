//! `outbox dead-letters`.

use super::Session;
use crate::{
    DeadLetter, DeadLetterFilter,
    cli::{args::RequestArgs, database::Database, failure::Failure, text},
    dead_letter::Request,
};
use std::process::ExitCode;

/// Dead letters in memory at once.
const PAGE_MAX: u32 = 500;

/// Lists those that match, page by page.
pub(super) async fn list<S: Database>(
    session: Session<'_, S>,
    filter: DeadLetterFilter,
    max: Option<u64>,
) -> Result<ExitCode, Failure> {
    let mut pages = Pages::new(filter, max);
    let mut list = text::DeadLetterList::default();
    while let Some(page) = pages.next(&session).await? {
        list.page(session.output, &page)?;
        // Whoever reads along sees each page at once, and a reader that went away ends the reading.
        session.output.finish()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows those numbers in full; fails when one is missing.
pub(super) async fn show<S: Database>(session: Session<'_, S>, ids: Vec<i64>) -> Result<ExitCode, Failure> {
    let mut missing = Vec::new();
    for id in ids {
        let filter = DeadLetterFilter { ids: vec![id], ..DeadLetterFilter::default() };
        match Pages::new(filter, Some(1)).next(&session).await?.as_deref() {
            Some([dead]) => text::dead_letter(session.output, dead)?,
            _ => missing.push(id.to_string()),
        }
    }
    session.output.finish()?;
    if missing.is_empty() {
        Ok(ExitCode::SUCCESS)
    } else {
        let missing = missing.join(", ");
        Err(Failure::NoMatch(format!(
            "no dead letter has the number {missing}; `list` shows those there are"
        )))
    }
}

/// Asks for the replay or removal of those that match, all in one statement: whoever stops reading the answer stops
/// nothing half-way.
pub(super) async fn request<S: Database>(
    session: Session<'_, S>,
    args: RequestArgs,
    request: Request,
) -> Result<ExitCode, Failure> {
    let dry_run = args.dry_run;
    let filter = args.filter()?;
    let mut matched = 0;
    let mut pages = Pages::new(filter.clone(), None);
    while let Some(page) = pages.next(&session).await? {
        matched += page.len() as u64;
    }
    if matched == 0 {
        return Err(Failure::NoMatch("no dead letter matches; `list` takes the same conditions".to_owned()));
    }
    if dry_run {
        text::would_request(session.output, request, matched)?;
        return Ok(ExitCode::SUCCESS);
    }
    let asked = match request {
        Request::Replay => session.outbox.replay(&filter).await,
        Request::Discard => session.outbox.discard(&filter).await,
    };
    match asked {
        Ok(asked) => text::requested(session.output, request, asked, matched.saturating_sub(asked))?,
        Err(source) => return Err(session.failed(source).await),
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads matching dead letters a page at a time, by number.
struct Pages {
    filter: DeadLetterFilter,
    left: u64,
}

impl Pages {
    fn new(filter: DeadLetterFilter, max: Option<u64>) -> Self {
        Self { filter, left: max.unwrap_or(u64::MAX) }
    }

    /// The next page; `None` when there is none.
    async fn next<S: Database>(
        &mut self,
        session: &Session<'_, S>,
    ) -> Result<Option<Vec<DeadLetter>>, Failure> {
        let max = u32::try_from(self.left).unwrap_or(PAGE_MAX).min(PAGE_MAX);
        if max == 0 {
            return Ok(None);
        }
        let page = match session.outbox.dead_letters(&self.filter, max).await {
            Ok(page) => page,
            Err(source) => return Err(session.failed(source).await),
        };
        let Some(last) = page.last() else { return Ok(None) };
        self.filter.after = Some(last.id);
        self.left -= page.len() as u64;
        Ok(Some(page))
    }
}
