//! `outbox doctor`.

use super::Session;
use crate::{
    Finding, Tolerance,
    broker::cloudevents::ContentMode,
    cli::{address::Address, args::DoctorArgs, broker, database::Database, failure::Failure, json, text},
};
use std::process::ExitCode;

/// Tells what is wrong; fails when something is.
pub(super) async fn run<S: Database>(session: Session<'_, S>, args: DoctorArgs) -> Result<ExitCode, Failure> {
    let mut findings = match session.outbox.examine(&Tolerance::default()).await {
        Ok(findings) => findings,
        Err(source) => return Err(session.failed(source).await),
    };
    if let Some(url) = &args.broker {
        findings.extend(of_broker(&session, url, &args).await?);
    }
    if session.as_json {
        json::findings(session.output, &findings)?;
    } else {
        text::findings(session.output, &findings)?;
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn of_broker<S: Database>(
    session: &Session<'_, S>,
    url: &str,
    args: &DoctorArgs,
) -> Result<Vec<Finding>, Failure> {
    let broker = broker::make(&broker::Place {
        url,
        certificates: args.certificates.broker_certificates.as_deref(),
        content_mode: ContentMode::default(),
        client_name: "outbox doctor".to_owned(),
    })?;
    let mut asked = match session.outbox.examination().await {
        Ok(asked) => asked,
        Err(source) => return Err(session.failed(source).await),
    };
    if !args.topics.is_empty() {
        asked.topics.clone_from(&args.topics);
    }
    asked.consumers.extend(args.consumers.iter().cloned());
    asked.window = args.inbox;
    let examined = broker.examine(&asked).await;
    examined.map_err(|source| Failure::Broker { address: Address::new(url), source: source.into() })
}
