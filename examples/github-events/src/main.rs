//! Webhooks of GitHub become typed events, and events become a table of what happens in each repository.
//!
//! ```text
//! cargo run -p github-events -- FILE [--repeat N] [--store sqlite|postgres] [--broker local|nats] [--check]
//! ```
//! Each line of FILE is one webhook: `{"event", "action", "payload"}`. A webhook is stored and its event is enqueued
//! in one transaction ([`ingest`]); consumers count the events ([`activity`]). The program ends when all is handled.
//! With `--check` it then computes the same tables from the file alone and compares ([`check`]).
//!
//! It may be killed at any moment and started again: it goes on where it was, and no event is lost or counted twice.
//! The databases' and brokers' addresses are DATABASE_URL and NATS_URL.

mod activity;
mod check;
mod database;
mod ingest;
mod webhook;

use clap::{Parser, ValueEnum};
use database::Database;
use outbox::{
    DeadLetterFilter, Outbox, RelayConfig, Runner, Start,
    nats::{NatsBroker, NatsConfig},
    postgres::{PostgresConfig, PostgresStore},
    sqlite::SqliteStore,
};
use std::{
    error::Error,
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};
use webhook::Webhook;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// After a crash the work of the dead process is taken up within this time. Short, for a program that is killed often.
const TAKEOVER: Duration = Duration::from_secs(2);

/// Without any progress for this long the program gives up.
const STALL_MAX: Duration = Duration::from_secs(120);

/// Turns webhooks of GitHub into events and counts them.
#[derive(Debug, Parser)]
struct Args {
    /// The webhooks, one JSON object a line
    file: PathBuf,
    /// How often the file is fed in
    #[arg(long, default_value_t = 1)]
    repeat: u32,
    /// Where webhooks, events and tables are kept
    #[arg(long, value_enum, default_value_t = StoreName::Sqlite)]
    store: StoreName,
    /// How events get to the consumers
    #[arg(long, value_enum, default_value_t = BrokerName::Local)]
    broker: BrokerName,
    /// Computes the tables from the file and compares
    #[arg(long)]
    check: bool,
    /// The address of the database [default for SQLite: sqlite://github-events.db]
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// The address of NATS
    #[arg(long, value_name = "URL", env = "NATS_URL", hide_env_values = true)]
    #[arg(default_value = "nats://127.0.0.1:4222")]
    nats_url: String,
    /// How long servers that cannot be reached are waited for
    #[arg(long, value_name = "SECS", default_value_t = 30)]
    patience_secs: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StoreName {
    Sqlite,
    Postgres,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BrokerName {
    Local,
    Nats,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    execute(&args).await.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            eprintln!("  because: {error}");
            cause = error.source();
        }
        ExitCode::FAILURE
    })
}

async fn execute(args: &Args) -> Result<ExitCode> {
    let url = args.database_url.clone();
    match args.store {
        StoreName::Sqlite => {
            let url = url.unwrap_or_else(|| "sqlite://github-events.db".to_owned());
            run(SqliteStore::open(&url).await?, args).await
        }
        StoreName::Postgres => {
            let url = url.ok_or("set DATABASE_URL to the address of the PostgreSQL database")?;
            let patience = Duration::from_secs(args.patience_secs);
            let config = PostgresConfig { patience, ..PostgresConfig::default() };
            run(PostgresStore::connect_with(&url, config).await?, args).await
        }
    }
}

async fn run<S: Database>(store: S, args: &Args) -> Result<ExitCode> {
    let webhooks = Webhook::read_all(&args.file)?;
    let expected = check::Tables::computed(&webhooks, args.repeat)?;
    let outbox = Outbox::builder(store).source("/github-events").build();
    outbox.migrate().await?;
    database::create_tables(&outbox).await?;

    let runner = start(&outbox, args).await?;
    let stored = ingest::ingest(&outbox, &webhooks, args.repeat).await?;
    println!("{stored} webhooks stored; {} were there before", expected.deliveries - stored);
    wait_until_handled(&outbox, expected.handled).await?;
    runner.stop().await?;
    println!("all events are handled");
    if !args.check {
        return Ok(ExitCode::SUCCESS);
    }
    let differences = expected.compared_with(&check::Tables::stored(&outbox).await?);
    for difference in &differences {
        eprintln!("{difference}");
    }
    if differences.is_empty() {
        println!("the tables are what the file says: no row is missing, none is doubled");
        Ok(ExitCode::SUCCESS)
    } else {
        Ok(ExitCode::FAILURE)
    }
}

/// Starts the consumers, and with a broker also the relay that feeds it.
async fn start<S: Database>(outbox: &Outbox<S>, args: &Args) -> Result<Runner> {
    let (only, elsewhere) = activity::consumers_of(S::NAME);
    let runner =
        outbox.runner().only(only).elsewhere(elsewhere).start_at(Start::Earliest).settings(|settings| {
            settings.takeover = TAKEOVER;
            settings.patience = Duration::from_secs(args.patience_secs);
        });
    let runner = match args.broker {
        BrokerName::Local => runner.consume_locally(),
        BrokerName::Nats => {
            let config = NatsConfig { servers: args.nats_url.clone(), ..NatsConfig::default() };
            let nats = Arc::new(NatsBroker::new(config));
            runner.relay(RelayConfig::named("github-events"), nats.clone()).consume_from(nats)
        }
    };
    Ok(runner.start().await?)
}

/// Waits until every consumer has counted as many events as it is to count.
async fn wait_until_handled<S: Database>(outbox: &Outbox<S>, expected: [i64; 2]) -> Result<()> {
    let mut seen = [0, 0];
    let mut moved_at = Instant::now();
    loop {
        let handled = database::handled(outbox).await?;
        if handled.iter().zip(expected).all(|(handled, expected)| *handled >= expected) {
            return Ok(());
        }
        if let Some(dead) = outbox.dead_letters(&DeadLetterFilter::default(), 1).await?.first() {
            return Err(format!("`{}` gave an event up: {}", dead.stage, dead.error_chain).into());
        }
        if handled != seen {
            (seen, moved_at) = (handled, Instant::now());
        }
        if moved_at.elapsed() > STALL_MAX {
            return Err(format!("nothing moves: {handled:?} of {expected:?} events are handled").into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
