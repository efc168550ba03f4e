//! `outbox doctor`.

use super::Session;
use crate::{
    Finding, StoreError, Tolerance,
    broker::{Broker, Examination, cloudevents::ContentMode},
    cli::{address::Address, args::DoctorArgs, broker, database::Database, failure::Failure, json, text},
};
use std::{process::ExitCode, sync::Arc};

/// Tells what is wrong; fails when something is.
pub(super) async fn run<S: Database>(session: Session<'_, S>, args: DoctorArgs) -> Result<ExitCode, Failure> {
    // Before anything is looked at, since it may be typed wrong.
    let broker = args.broker.as_deref().map(|url| make(url, &args)).transpose()?;
    let mut findings = match session.outbox.examine(&Tolerance::default()).await {
        Ok(findings) => findings,
        Err(source) => return Err(session.failed(source).await),
    };
    if let Some((broker, address)) = broker {
        findings.extend(of_broker(&session, &*broker, &address, args).await);
    }
    if session.as_json {
        json::findings(session.output, &findings)?;
    } else {
        text::findings(session.output, &findings)?;
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn make(url: &str, args: &DoctorArgs) -> Result<(Arc<dyn Broker>, Address), Failure> {
    let broker = broker::make(&broker::Place {
        url,
        setup: &args.setup,
        content_mode: ContentMode::default(),
        client_name: "outbox doctor".to_owned(),
    })?;
    Ok((broker, Address::new(url)))
}

/// What is wrong at the broker; that it does not let itself be looked at is one finding more.
async fn of_broker<S: Database>(
    session: &Session<'_, S>,
    broker: &dyn Broker,
    address: &Address,
    args: DoctorArgs,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut asked = match session.outbox.examination().await {
        Ok(asked) => asked,
        // What is wrong with the database stands above; the broker has an answer all the same.
        Err(source) => {
            findings.push(topics_unknown(&source));
            Examination::default()
        }
    };
    if !args.topics.is_empty() {
        asked.topics = args.topics;
    }
    asked.consumers.extend(args.consumers);
    asked.window = args.inbox;
    match broker.examine(&asked).await {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(error.finding(address.to_string())),
    }
    findings
}

fn topics_unknown(error: &StoreError) -> Finding {
    Finding {
        code: "topics-unknown",
        about: "broker".to_owned(),
        problem: format!("its topics and consumers could not be read from the database: {error}"),
        why: "of the broker no more was looked at than was typed",
        fix: "mend what is wrong with the database, or name them with `--topic` and `--consumer`".to_owned(),
    }
}
