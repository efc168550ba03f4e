//! What each command does: asks the database, and hands the answer to [`text`](super::text) or [`json`](super::json).

mod audit;
mod dead_letters;
mod debezium;
mod doctor;
mod forget;
mod migrate;
mod relay;
mod repair;
mod replay;
mod scheduled;
mod status;
mod upkeep;

pub(super) use dead_letters::{Asked, Requested};

use super::{
    address::Address,
    args::{Command, DeadLettersCommand, ForgetCommand, ReplayCommand, ScheduledCommand},
    database::Database,
    failure::Failure,
    output::Output,
    patience::Patience,
};
use crate::{Outbox, StoreError, dead_letter::Request, held::Stage};
use std::process::ExitCode;

/// What every command works with.
pub(super) struct Session<'a, S: Database> {
    pub(super) outbox: Outbox<S>,
    pub(super) address: Address,
    pub(super) patience: Patience,
    /// Whether scripts read the answer.
    pub(super) as_json: bool,
    pub(super) output: &'a mut Output,
}

impl<S: Database> Session<'_, S> {
    /// The failure of a call to the database. Where the tables are not fit for this build, that is the reason.
    async fn failed(&self, source: StoreError) -> Failure {
        let source = self.outbox.store().check().await.err().unwrap_or(source);
        Failure::Store { address: self.address.clone(), source: source.into() }
    }
}

pub(super) async fn run<S: Database>(session: Session<'_, S>, command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Migrate { .. } => migrate::run(session).await,
        Command::Relay(args) => relay::run(session, args).await,
        Command::Upkeep(args) => upkeep::run(session, args).await,
        Command::Doctor(args) => doctor::run(session, args).await,
        Command::Status => status::run(session).await,
        Command::DeadLetters(DeadLettersCommand::List { filter, max }) => {
            dead_letters::list(session, filter.filter(), max).await
        }
        Command::DeadLetters(DeadLettersCommand::Show { ids }) => dead_letters::show(session, ids).await,
        Command::DeadLetters(DeadLettersCommand::Replay { request, why }) => {
            dead_letters::request(session, request, why, Asked::Request(Request::Replay)).await
        }
        Command::DeadLetters(DeadLettersCommand::Discard { request, why }) => {
            dead_letters::request(session, request, why, Asked::Request(Request::Discard)).await
        }
        Command::DeadLetters(DeadLettersCommand::Cancel { request, why }) => {
            dead_letters::request(session, request, why, Asked::Cancel).await
        }
        Command::Consumers(ForgetCommand::Forget(args)) => {
            forget::run(session, &Stage::consumer(&args.name), &args).await
        }
        Command::Relays(ForgetCommand::Forget(args)) => {
            forget::run(session, &Stage::relay(&args.name), &args).await
        }
        Command::Replay(ReplayCommand::Start(args)) => replay::start(session, *args).await,
        Command::Replay(ReplayCommand::List { max }) => replay::list(session, max).await,
        Command::Replay(ReplayCommand::Cancel { id }) => replay::cancel(session, id).await,
        Command::Audit(args) => audit::run(session, args).await,
        Command::Scheduled(ScheduledCommand::List { filter, max }) => {
            scheduled::list(session, filter.filter(), max).await
        }
        Command::Scheduled(ScheduledCommand::Cancel { ids }) => scheduled::cancel(session, ids).await,
        Command::DebeziumConfig(args) => debezium::run(session, &args).await,
        Command::Repair => repair::run(session).await,
    }
}
