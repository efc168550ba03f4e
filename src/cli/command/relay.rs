//! `outbox relay`.

use super::Session;
use crate::{
    RunError, Webhook,
    cli::{
        address::Address, alert, args::RelayArgs, broker, database::Database, failure::Failure, json,
        signal::Stop,
    },
};
use std::process::ExitCode;

/// Publishes until a signal says stop, then finishes what is in flight and gives the lease back.
pub(super) async fn run<S: Database>(session: Session<'_, S>, args: RelayArgs) -> Result<ExitCode, Failure> {
    let mut stop = Stop::listen()?;
    let broker = broker::make(&args)?;
    let broker_address = Address::new(&args.broker);

    let failed = |source| match source {
        RunError::Broker(source) => {
            Failure::Broker { address: broker_address.clone(), source: source.into() }
        }
        RunError::Store(source) => Failure::Store { address: session.address.clone(), source: source.into() },
        source => Failure::Relay { name: args.name.clone(), source: source.into() },
    };
    let patience = session.patience.left();
    let mut start = session.outbox.runner().relay(args.config(), broker).settings(|settings| {
        settings.patience = patience;
        settings.retention = args.kept();
    });
    if let Some(url) = &args.dead_letter_webhook {
        start =
            start.dead_letter_webhook(Webhook::new(url).map_err(|error| Failure::Usage(error.to_string()))?);
    }
    if let Some(program) = args.on_dead_letters.clone() {
        start = start.on_dead_letters(move |growth| alert::call(program.clone(), growth));
    }
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
