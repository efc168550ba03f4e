//! `outbox upkeep`, and what a relay does of it.

use super::Session;
use crate::{
    RunError, RunnerBuilder, Store, Webhook,
    cli::{
        alert, args::KeepArgs, database::Database, failure::Failure, json, patience::Patience, signal::Stop,
    },
};
use std::process::ExitCode;

/// Keeps the tables up until a signal says stop.
pub(super) async fn run<S: Database>(session: Session<'_, S>, args: KeepArgs) -> Result<ExitCode, Failure> {
    let mut stop = Stop::listen()?;
    let failed = |source| match source {
        RunError::Store(source) => Failure::Store { address: session.address.clone(), source: source.into() },
        source => Failure::Upkeep { source: source.into() },
    };
    let start = configure(session.outbox.runner().upkeep(), &args, &session.patience)?;
    let runner = tokio::select! { biased;
        () = stop.requested() => None,
        runner = start.start() => Some(runner.map_err(failed)?),
    };
    if let Some(runner) = runner {
        tracing::info!(database = %session.address, "upkeep has started");
        runner.run_until(stop.requested()).await.map_err(failed)?;
    }
    tracing::info!("upkeep has stopped");
    if session.as_json {
        json::upkeep_stopped(session.output)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Tells a runner what is kept how long, and who is told of dead letters.
pub(super) fn configure<S: Store>(
    start: RunnerBuilder<S>,
    args: &KeepArgs,
    patience: &Patience,
) -> Result<RunnerBuilder<S>, Failure> {
    let left = patience.left();
    let mut start = start.settings(|settings| {
        settings.patience = left;
        settings.retention = args.retention();
    });
    if let Some(url) = &args.dead_letter_webhook {
        start =
            start.dead_letter_webhook(Webhook::new(url).map_err(|error| Failure::Usage(error.to_string()))?);
    }
    if let Some(program) = args.on_dead_letters.clone() {
        start = start.on_dead_letters(move |growth| alert::call(program.clone(), growth));
    }
    Ok(start)
}
