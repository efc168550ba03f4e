//! `outbox debezium-config`.

use super::Session;
use crate::{
    cli::{args::DebeziumArgs, database::Database, failure::Failure, json, text},
    held::Stage,
};
use std::process::ExitCode;

/// Prints the publication and the connector, and warns of what would be in their way.
pub(super) async fn run<S: Database>(
    session: Session<'_, S>,
    args: &DebeziumArgs,
) -> Result<ExitCode, Failure> {
    let store = session.outbox.store();
    let (connector, stages) = match (store.debezium(args).await, store.status().await) {
        (Ok(connector), Ok(stages)) => (connector, stages),
        (Err(error), _) | (_, Err(error)) => return Err(session.failed(error).await),
    };
    let Some(connector) = connector else {
        let problem = "Debezium reads the log of PostgreSQL only; on this database run `outbox relay`";
        return Err(Failure::Usage(problem.to_owned()));
    };
    if !connector.is_logical {
        tracing::warn!(
            "the server's `wal_level` is not `logical`; set it and restart the server, else no connector starts"
        );
    }
    let relay = Stage::relay(&args.relay);
    if let Some(held) = stages.iter().find(|status| status.stage == relay && status.held > 0) {
        tracing::warn!(
            stage = relay.as_str(),
            held = held.held,
            "the relay holds events that the connector will not send; let it finish them before it stops for good"
        );
    }
    if session.as_json {
        json::connector(session.output, &connector)?;
    } else {
        text::connector(session.output, &connector)?;
    }
    Ok(ExitCode::SUCCESS)
}
