//! `outbox relay`.

use super::{Session, upkeep};
use crate::{
    RunError,
    cli::{
        address::Address, args::RelayArgs, broker, database::Database, failure::Failure, json, signal::Stop,
    },
};
use std::process::ExitCode;

/// Publishes until a signal says stop, then finishes what is in flight and gives the lease back.
pub(super) async fn run<S: Database>(session: Session<'_, S>, args: RelayArgs) -> Result<ExitCode, Failure> {
    let mut stop = Stop::listen()?;
    let broker = broker::make(&broker::Place {
        url: &args.broker,
        setup: &args.setup,
        content_mode: args.content_mode,
        client_name: format!("outbox relay {}", args.name),
    })?;
    let broker_address = Address::new(&args.broker);

    let failed = |source| match source {
        RunError::Broker(source) => {
            Failure::Broker { address: broker_address.clone(), source: source.into() }
        }
        RunError::Store(source) => Failure::Store { address: session.address.clone(), source: source.into() },
        source => Failure::Relay { name: args.name.clone(), source: source.into() },
    };
    let start = session.outbox.runner().relay(args.config(), broker);
    let start = upkeep::configure(start, &args.kept, &session.patience)?;
    let runner = tokio::select! { biased;
        () = stop.requested() => None,
        runner = start.start() => Some(runner.map_err(failed)?),
    };
    if let Some(runner) = runner {
        tracing::info!(relay = args.name, database = %session.address, broker = %broker_address, "the relay has started");
        runner.run_until(stop.requested()).await.map_err(failed)?;
    }
    tracing::info!(relay = args.name, "the relay has stopped");
    if session.as_json {
        json::relay_stopped(session.output, &args.name)?;
    }
    Ok(ExitCode::SUCCESS)
}
