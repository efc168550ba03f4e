//! `outbox replay`.

use super::Session;
use crate::{
    StoreError,
    cli::{args::ReplayArgs, database::Database, failure::Failure, json, text},
};
use std::process::ExitCode;

/// Asks for the replay of a range, in one statement: whoever stops reading the answer stops nothing half-way. Fails when
/// there is nothing to replay, and says why.
pub(super) async fn start<S: Database>(
    session: Session<'_, S>,
    args: ReplayArgs,
) -> Result<ExitCode, Failure> {
    let range = args.range()?;
    let planned = match args.dry_run {
        true => session.outbox.plan_range(&range).await.map(|plan| (None, plan)),
        false => session.outbox.replay_range(&range, &args.terms()).await,
    };
    let (id, plan) = match planned {
        Ok(planned) => planned,
        // Nothing is wrong with the database.
        Err(unread @ StoreError::ReadsNoLog { .. }) => return Err(Failure::NoMatch(unread.to_string())),
        Err(source) => return Err(session.failed(source).await),
    };
    if session.as_json {
        json::range_planned(session.output, &range, id, &plan, args.dry_run)?;
    } else if plan.matched > 0 {
        text::range_planned(session.output, &range, id, &plan)?;
    }
    session.output.finish()?;
    match (plan.matched, plan.open) {
        (0, _) => Err(Failure::NoMatch(
            "no event of that range stands in the log, or the stage has not settled it yet and it comes anyway".to_owned(),
        )),
        (_, 0) => Err(Failure::NoMatch(
            "nothing of that range is to be replayed: `--again` has a consumer handle again what it has handled, and \
             `outbox dead-letters replay` replays dead letters"
                .to_owned(),
        )),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Lists the newest.
pub(super) async fn list<S: Database>(session: Session<'_, S>, max: u32) -> Result<ExitCode, Failure> {
    let replays = match session.outbox.range_replays(max).await {
        Ok(replays) => replays,
        Err(source) => return Err(session.failed(source).await),
    };
    if session.as_json {
        json::range_replays(session.output, &replays)?;
    } else {
        text::range_replays(session.output, &replays)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes back the rest of one; fails when it is not running.
pub(super) async fn cancel<S: Database>(session: Session<'_, S>, id: i64) -> Result<ExitCode, Failure> {
    let cancelled = match session.outbox.cancel_range(id).await {
        Ok(cancelled) => cancelled,
        Err(source) => return Err(session.failed(source).await),
    };
    if session.as_json {
        json::range_cancelled(session.output, id, cancelled)?;
    } else if cancelled {
        session.output.line(format_args!("took back the rest of replay {id}; what was taken up goes on"))?;
    }
    session.output.finish()?;
    match cancelled {
        true => Ok(ExitCode::SUCCESS),
        false => Err(Failure::NoMatch(format!("no replay {id} is running; `list` shows those there are"))),
    }
}
