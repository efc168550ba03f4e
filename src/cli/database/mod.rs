//! Opening the database that an address names; one module each.

#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;

use super::{
    address::Address,
    args::{Args, Command, DatabaseArgs, DebeziumArgs},
    command::{self, Session},
    failure::Failure,
    output::Output,
    patience::Patience,
};
use crate::{Outbox, Store, StoreError, envelope::Seq, held::Stage};
use std::{future::Future, pin::Pin, process::ExitCode, time::Duration};

/// What the command line needs of a store beyond its trait.
pub(super) trait Database: Store {
    /// The schemes of its addresses.
    const SCHEMES: &'static [&'static str];

    /// Refuses a place that cannot hold the tables; `creates` where the command may make what is missing.
    fn accept(place: &Place, creates: bool) -> Result<(), Failure>;

    /// Connects.
    fn open(place: &Place) -> impl Future<Output = Result<Self, StoreError>> + Send;

    /// Mends what a restore or promotion broke; `None` where nothing can be broken.
    fn repair(&self) -> impl Future<Output = Result<Option<Repaired>, StoreError>> + Send;

    /// What it takes to have Debezium read the log; `None` of a database that it does not read.
    fn debezium(
        &self,
        args: &DebeziumArgs,
    ) -> impl Future<Output = Result<Option<Connector>, StoreError>> + Send;
}

/// What was done to a log.
pub(super) struct Repaired {
    /// The number of the next event.
    pub(super) next_seq: Seq,
    /// The stages that read the whole log again: they had settled numbers yet to be given.
    pub(super) rereading: Vec<Stage>,
}

/// A connector of Debezium.
pub(super) struct Connector {
    /// The statements that make its publication.
    pub(super) publication: String,
    /// Its settings, by name.
    pub(super) settings: Vec<(String, String)>,
    /// The same as a file.
    pub(super) properties: String,
    /// Whether the server lets it read.
    pub(super) is_logical: bool,
}

/// Where the tables stand.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) address: Address,
    pub(super) schema: Option<String>,
    pub(super) prefix: String,
    /// What `migrate` was told.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "the tables of SQLite are the same for each")
    )]
    pub(super) retention: Option<Duration>,
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<ExitCode, Failure>> + 'a>>;
type Run = for<'a> fn(Place, Ask, &'a mut Output) -> Running<'a>;

/// What is asked of the database, and how.
pub(super) struct Ask {
    command: Command,
    patience: Patience,
    as_json: bool,
}

/// Every database of this build, with the schemes of its addresses.
const DATABASES: &[(&[&str], Run)] = &[
    known::<crate::sqlite::SqliteStore>(),
    #[cfg(feature = "postgres")]
    known::<crate::postgres::PostgresStore>(),
];

const fn known<S: Database>() -> (&'static [&'static str], Run) {
    (S::SCHEMES, run_on::<S>)
}

/// Runs a command on the database that was named.
pub(super) async fn run(args: Args, output: &mut Output) -> Result<ExitCode, Failure> {
    let DatabaseArgs { database_url, schema, prefix, patience, json } = args.database;
    let url = database_url.ok_or_else(|| {
        Failure::Usage("no database is named; give `--database-url` or set OUTBOX_DATABASE_URL".to_owned())
    })?;
    let retention = match &args.command {
        Command::Migrate { retention } => *retention,
        _ => None,
    };
    let place = Place { address: Address::new(url), schema, prefix, retention };
    let scheme = place.address.scheme();
    let Some((_, run)) = DATABASES.iter().find(|(schemes, _)| schemes.contains(&scheme.as_str())) else {
        let known: Vec<_> = DATABASES.iter().flat_map(|(schemes, _)| *schemes).copied().collect();
        return Err(Failure::Usage(format!(
            "the database's address has none of the schemes that this build knows ({}); correct it, or build with the \
             feature of that database",
            known.join(", ")
        )));
    };
    let ask = Ask { command: args.command, patience: Patience::new(patience), as_json: json };
    run(place, ask, output).await
}

fn run_on<S: Database>(
    place: Place,
    Ask { command, patience, as_json }: Ask,
    output: &mut Output,
) -> Running<'_> {
    Box::pin(async move {
        S::accept(&place, matches!(command, Command::Migrate { .. }))?;
        let address = place.address.clone();
        let store = patience
            .until_ok(async || S::open(&place).await)
            .await
            .map_err(|source| Failure::Open { address: address.clone(), source: source.into() })?;
        let outbox = Outbox::builder(store).build();
        command::run(Session { outbox, address, patience, as_json, output }, command).await
    })
}
