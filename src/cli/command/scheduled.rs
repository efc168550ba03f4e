//! `outbox scheduled`.

use super::Session;
use crate::{
    Cancellation, EventId, ScheduledFilter,
    cli::{database::Database, failure::Failure, json, text},
};
use std::process::ExitCode;

/// Scheduled events in memory at once.
const PAGE_MAX: u32 = 500;

/// Lists those that match, page by page, the soonest first.
pub(super) async fn list<S: Database>(
    session: Session<'_, S>,
    mut filter: ScheduledFilter,
    max: Option<u64>,
) -> Result<ExitCode, Failure> {
    let mut left = max.unwrap_or(u64::MAX);
    let mut list = text::ScheduledList::default();
    let mut as_json = session.as_json.then(|| json::List::new("scheduled"));
    loop {
        let page_max = u32::try_from(left).unwrap_or(PAGE_MAX).min(PAGE_MAX);
        let page = match session.outbox.scheduled(&filter, page_max).await {
            Ok(page) => page,
            Err(source) => return Err(session.failed(source).await),
        };
        let Some(last) = page.last() else { break };
        filter.after = Some((last.due, last.number));
        left -= page.len() as u64;
        match &mut as_json {
            Some(list) => list.scheduled(session.output, &page)?,
            None => list.page(session.output, &page)?,
        }
        // Whoever reads along sees each page at once, and a reader that went away ends the reading.
        session.output.finish()?;
    }
    if let Some(list) = as_json {
        list.end(session.output)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes those back that can be; fails when one could not.
pub(super) async fn cancel<S: Database>(
    session: Session<'_, S>,
    ids: Vec<EventId>,
) -> Result<ExitCode, Failure> {
    let answers = match take_back(&session, &ids).await {
        Ok(answers) => answers,
        Err(source) => return Err(session.failed(source).await),
    };
    let answers: Vec<_> = ids.into_iter().zip(answers).collect();
    if session.as_json {
        json::cancellations(session.output, &answers)?;
    } else {
        answers.iter().try_for_each(|(id, answer)| text::cancellation(session.output, *id, *answer))?;
    }
    session.output.finish()?;
    let is_done = answers.iter().all(|(_, answer)| *answer == Cancellation::Cancelled);
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// In one transaction: whoever stops reading the answer stops nothing half-way.
async fn take_back<S: Database>(
    session: &Session<'_, S>,
    ids: &[EventId],
) -> Result<Vec<Cancellation>, crate::StoreError> {
    let mut tx = session.outbox.begin().await?;
    let mut answers = Vec::new();
    for id in ids {
        answers.push(session.outbox.cancel(&mut tx, *id).await?);
    }
    tx.commit().await?;
    Ok(answers)
}
