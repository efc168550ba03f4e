//! What every service does: it opens its database, relays what it tells and handles what it hears, until it is told to
//! stop.

use crate::{
    Result,
    broker::BrokerName,
    counts::Duplicates,
    orders::{self, Order},
};
use clap::{Parser, ValueEnum};
use outbox::{
    Event, Outbox, RelayConfig, RunnerBuilder, Start,
    postgres::{PostgresConfig, PostgresStore},
};
use std::{process::ExitCode, time::Duration};
use tokio::{
    io::{AsyncReadExt, stdin},
    net::TcpListener,
    select,
    signal::unix::{SignalKind, signal},
    time::interval,
};

/// After a crash the work of the dead process is taken up within this time. Short, for services that are killed often.
const TAKEOVER: Duration = Duration::from_secs(2);

/// A service and its consumers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Service {
    /// Takes orders, and follows what becomes of them
    Orders,
    /// Charges the cards of customers
    Billing,
    /// Packs parcels, and sends those that are paid
    Shipping,
}

impl Service {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Orders, Self::Billing, Self::Shipping];

    /// Its name: on the command line, of its schema, and in the source of its events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Billing => "billing",
            Self::Shipping => "shipping",
        }
    }

    const fn consumers(self) -> &'static [&'static str] {
        match self {
            Self::Orders => &["orders.follow"],
            Self::Billing => &["billing.charge"],
            Self::Shipping => &["shipping.pack", "shipping.send"],
        }
    }

    const fn tables(self) -> &'static str {
        match self {
            Self::Orders => include_str!("../migrations/orders.sql"),
            Self::Billing => include_str!("../migrations/billing.sql"),
            Self::Shipping => include_str!("../migrations/shipping.sql"),
        }
    }
}

/// Runs one service of the shop.
#[derive(Debug, Parser)]
struct Args {
    #[arg(value_enum)]
    service: Service,
    /// How events get to the other services
    #[arg(long, value_enum)]
    broker: BrokerName,
    /// The address of the database
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    database_url: String,
    /// The address of the broker
    #[arg(long, value_name = "URL", env = "BROKER_URL", hide_env_values = true)]
    broker_url: Option<String>,
    /// Where the orders service takes orders
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    listen: String,
}

/// The outbox of a service. Without a broker all services share one, since a consumer then reads the log itself.
///
/// # Errors
/// The database cannot be reached.
pub async fn open(service: Service, broker: BrokerName, database_url: &str) -> Result<Outbox<PostgresStore>> {
    let schema = if broker == BrokerName::Local { "outbox" } else { service.name() };
    let config = PostgresConfig { schema: schema.to_owned(), ..PostgresConfig::default() };
    let store = PostgresStore::connect_with(database_url, config).await?;
    Ok(Outbox::builder(store).source(format!("/storefront/{}", service.name())).build())
}

/// The `main` of a release, which says how it tells of an order.
pub async fn main<E: Event + Send + Sync + 'static>(placed: fn(Order) -> E) -> ExitCode {
    // What outbox warns of goes to the log of the service.
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    match serve(Args::parse(), placed).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::tell(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn serve<E: Event + Send + Sync + 'static>(args: Args, placed: fn(Order) -> E) -> Result {
    let duplicates = Duplicates::counted();
    let outbox = open(args.service, args.broker, &args.database_url).await?;
    outbox.migrate().await?;
    sqlx::raw_sql(args.service.tables()).execute(outbox.store().pool()).await?;

    let runner = runner(&outbox, &args).start().await?;
    if args.service == Service::Orders {
        let listener = TcpListener::bind(&args.listen).await?;
        tokio::spawn(orders::take_orders(outbox.clone(), listener, placed));
    }
    println!("ready");
    tokio::spawn(report(duplicates));
    runner.run_until(told_to_stop()).await?;
    Ok(())
}

/// The consumers of this service, and the relay that publishes what it tells.
fn runner(outbox: &Outbox<PostgresStore>, args: &Args) -> RunnerBuilder<PostgresStore> {
    // This program holds the consumers of all three services; each process runs those of one.
    let others = Service::ALL.into_iter().filter(|service| *service != args.service);
    let runner = outbox
        .runner()
        .only(args.service.consumers().iter().copied())
        .elsewhere(others.flat_map(|service| service.consumers().iter().copied()))
        .start_at(Start::Earliest)
        .settings(|settings| settings.takeover = TAKEOVER);
    match args.broker.at(args.broker_url.as_deref()) {
        Some(broker) => runner.relay(RelayConfig::default(), broker.clone()).consume_from(broker),
        None => runner.consume_locally(),
    }
}

/// Tells once a second how many duplicates were dropped.
async fn report(duplicates: Duplicates) {
    let mut every = interval(Duration::from_secs(1));
    loop {
        every.tick().await;
        println!("duplicates {}", duplicates.count());
    }
}

/// Completes at SIGTERM, at Ctrl-C, and when whoever started this process is gone.
async fn told_to_stop() {
    let mut terminate = signal(SignalKind::terminate()).expect("this process may handle SIGTERM");
    let starter_is_gone = async { while stdin().read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {} };
    select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
        () = starter_is_gone => {}
    }
}
