//! `outbox dead-letters`.

use super::Session;
use crate::{
    DeadLetter, DeadLetterFilter,
    cli::{args::RequestArgs, database::Database, failure::Failure, json, output::Output, text},
    dead_letter::{DeadLetterCount, Request},
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
    let mut list = List::new(session.as_json);
    while let Some(page) = pages.next(&session).await? {
        list.page(session.output, &page)?;
        // Whoever reads along sees each page at once, and a reader that went away ends the reading.
        session.output.finish()?;
    }
    list.end(session.output)?;
    Ok(ExitCode::SUCCESS)
}

/// Shows those numbers in full; fails when one is missing.
pub(super) async fn show<S: Database>(session: Session<'_, S>, ids: Vec<i64>) -> Result<ExitCode, Failure> {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for id in ids {
        let filter = DeadLetterFilter { ids: vec![id], ..DeadLetterFilter::default() };
        match Pages::new(filter, Some(1)).next(&session).await? {
            Some(page) => found.extend(page),
            None => missing.push(id.to_string()),
        }
    }
    if session.as_json {
        json::dead_letters_in_full(session.output, &found)?;
    } else {
        found.iter().try_for_each(|dead| text::dead_letter(session.output, dead))?;
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

/// What is asked of dead letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Asked {
    /// That they be replayed or discarded.
    Request(Request),
    /// That what was asked be forgotten.
    Cancel,
}

impl Asked {
    /// The verb, and its name for scripts.
    pub(in crate::cli) const fn as_str(self) -> &'static str {
        match self {
            Self::Request(request) => request.as_str(),
            Self::Cancel => "cancel",
        }
    }

    /// How many of a group it would reach.
    pub(in crate::cli) fn open_in(self, group: &DeadLetterCount) -> u64 {
        match self {
            Self::Request(request) => group.open_to(request),
            Self::Cancel => group.requested,
        }
    }
}

/// What was asked of the dead letters that match, or would be.
pub(in crate::cli) struct Requested {
    pub(in crate::cli) asked: Asked,
    pub(in crate::cli) dry_run: bool,
    /// How many match.
    pub(in crate::cli) matched: u64,
    /// For how many it was done; in a dry run, for how many it would be.
    pub(in crate::cli) reached: u64,
    pub(in crate::cli) groups: Vec<DeadLetterCount>,
}

/// Asks it of those that match, all in one statement: whoever stops reading the answer stops nothing half-way, and the
/// database keeps what was asked.
pub(super) async fn request<S: Database>(
    session: Session<'_, S>,
    args: RequestArgs,
    why: String,
    asked: Asked,
) -> Result<ExitCode, Failure> {
    let (filter, terms, outbox) = (args.filter()?, args.terms(why), &session.outbox);
    let groups = match outbox.count_dead_letters(&filter).await {
        Ok(groups) => groups,
        Err(source) => return Err(session.failed(source).await),
    };
    let matched = groups.iter().map(|group| group.count).sum();
    let reached = match asked {
        _ if args.dry_run => Ok(groups.iter().map(|group| asked.open_in(group)).sum()),
        _ if matched == 0 => Ok(0),
        Asked::Request(Request::Replay) => outbox.replay(&filter, &terms).await,
        Asked::Request(Request::Discard) => outbox.discard(&filter, &terms).await,
        Asked::Cancel => outbox.cancel_requests(&filter, &terms).await,
    };
    let reached = match reached {
        Ok(reached) => reached,
        Err(source) => return Err(session.failed(source).await),
    };
    let answer = Requested { asked, dry_run: args.dry_run, matched, reached, groups };
    if session.as_json {
        json::requested(session.output, &answer)?;
    } else if matched > 0 {
        text::requested(session.output, &answer)?;
    }
    session.output.finish()?;
    if matched == 0 {
        return Err(Failure::NoMatch("no dead letter matches; `list` takes the same conditions".to_owned()));
    }
    Ok(ExitCode::SUCCESS)
}

/// A list on its way out.
enum List {
    Text(text::DeadLetterList),
    Json(json::List),
}

impl List {
    fn new(as_json: bool) -> Self {
        match as_json {
            true => Self::Json(json::List::new("deadLetters")),
            false => Self::Text(text::DeadLetterList::default()),
        }
    }

    fn page(&mut self, output: &mut Output, page: &[DeadLetter]) -> Result<(), Failure> {
        match self {
            Self::Text(list) => list.page(output, page),
            Self::Json(list) => list.dead_letters(output, page),
        }
    }

    fn end(self, output: &mut Output) -> Result<(), Failure> {
        match self {
            Self::Text(_) => Ok(()),
            Self::Json(list) => list.end(output),
        }
    }
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
