//! What each command does: asks the database, and hands the answer to [`text`](super::text).

mod dead_letters;
mod forget;
mod migrate;
mod relay;
mod repair;
mod scheduled;
mod status;

use super::{
    address::Address,
    args::{Command, DeadLettersCommand, ForgetCommand, ScheduledCommand},
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
        Command::Status { json } => status::run(session, json).await,
        Command::DeadLetters(DeadLettersCommand::List { filter, max }) => {
            dead_letters::list(session, filter.filter(), max).await
        }
        Command::DeadLetters(DeadLettersCommand::Show { ids }) => dead_letters::show(session, ids).await,
        Command::DeadLetters(DeadLettersCommand::Replay(args)) => {
            dead_letters::request(session, args, Request::Replay).await
        }
        Command::DeadLetters(DeadLettersCommand::Discard(args)) => {
            dead_letters::request(session, args, Request::Discard).await
        }
        Command::Consumers(ForgetCommand::Forget(args)) => {
            forget::run(session, &Stage::consumer(&args.name), &args).await
        }
        Command::Relays(ForgetCommand::Forget(args)) => {
            forget::run(session, &Stage::relay(&args.name), &args).await
        }
        Command::Scheduled(ScheduledCommand::List { filter, max, json }) => {
            scheduled::list(session, filter.filter(), max, json).await
        }
        Command::Scheduled(ScheduledCommand::Cancel { ids, json }) => {
            scheduled::cancel(session, ids, json).await
        }
        Command::Repair => repair::run(session).await,
    }
}
