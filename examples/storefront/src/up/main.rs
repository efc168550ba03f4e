//! Starts the services of the shop, orders, kills and upgrades them meanwhile, and counts the money at the end.
//!
//! ```text
//! cargo run -p storefront -- up [--broker local|nats|redis|rabbitmq|kafka] [--seconds N] [--kill]
//! cargo run -p storefront -- check
//! ```
//! `up` fails if an order was not charged or not sent, or either of it twice. The servers are at DATABASE_URL and BROKER_URL;
//! without these, private ones are started ([`servers`]).

mod cargo;
mod check;
mod customers;
mod fleet;
mod servers;
mod shop;
mod view;

use check::{Ledger, Verdict};
use clap::{Parser, value_parser};
use customers::Customers;
use fleet::Fleet;
use servers::Servers;
use shop::Shop;
use sqlx::PgPool;
use std::{
    process::ExitCode,
    time::{Duration, Instant},
};
use storefront::{Result, broker::BrokerName, service::Service};
use tokio::time::interval;
use view::View;

/// How often the services are looked after.
const TEND: Duration = Duration::from_millis(100);

/// When no order gets any further for so long after the last one was placed, something was lost.
const STALL_MAX: Duration = Duration::from_secs(60);

/// How long everything must have been done before it is counted: something doubled would come late.
const QUIET: Duration = Duration::from_secs(2);

/// A shop of three services.
#[derive(Debug, Parser)]
enum Command {
    /// Runs the shop for a while, then counts the money
    Up(Up),
    /// Counts the money
    Check {
        /// The address of the database
        #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
        database_url: String,
    },
}

#[derive(Debug, clap::Args)]
struct Up {
    /// How events get from one service to another
    #[arg(long, value_enum, default_value_t = BrokerName::Local)]
    broker: BrokerName,
    /// How long customers order
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = value_parser!(u32).range(1..))]
    seconds: u32,
    /// Kills the services at random, again and again
    #[arg(long)]
    kill: bool,
    /// How many orders come in a second
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = value_parser!(u32).range(1..))]
    rate: u32,
    /// The address of the PostgreSQL database
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// The address of the broker
    #[arg(long, value_name = "URL", env = "BROKER_URL", hide_env_values = true)]
    broker_url: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let counted = match Command::parse() {
        Command::Up(args) => up(&args).await,
        Command::Check { database_url } => check(&database_url).await,
    };
    match counted {
        Ok(verdict) => verdict.show(),
        Err(error) => {
            storefront::tell(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn check(database_url: &str) -> Result<Verdict> {
    Verdict::of(&PgPool::connect(database_url).await?, &Ledger::new()).await
}

async fn up(args: &Up) -> Result<Verdict> {
    let programs = fleet::programs().await?;
    let servers = Servers::find(args).await?;
    let mut fleet = Fleet::start(programs, args.broker, &servers).await?;
    let shop = Shop::open(args.broker, &servers.database_url).await?;
    shop.block_card().await?;
    let customers = Customers::begin(fleet.orders_address(), args.rate, shop.next_order().await?);
    let mut view = View::new();

    run(args, &mut fleet, &shop, &mut view).await?;
    println!("  no more orders; the bank lifts its block, and what could not be charged is replayed");
    let ledger = customers.end().await?;
    shop.unblock_card().await?;
    drain(&mut fleet, &shop, &mut view, &ledger).await?;

    let verdict = Verdict::of(shop.pool(), &ledger).await?;
    fleet.stop(verdict.is_kept()).await?;
    Ok(verdict)
}

/// Lets the shop work for as long as it was asked to. Release 2 comes service by service, the one that tells first.
async fn run(args: &Up, fleet: &mut Fleet, shop: &Shop, view: &mut View) -> Result {
    let span = Duration::from_secs(args.seconds.into());
    let mut moves =
        vec![(span * 2 / 3, Service::Billing), (span / 2, Service::Shipping), (span / 3, Service::Orders)];
    let begun = Instant::now();
    let mut next_kill = begun + pause();
    let mut tick = interval(TEND);
    while begun.elapsed() < span || !moves.is_empty() {
        tick.tick().await;
        fleet.all_run()?;
        if let Some((_, service)) = moves.pop_if(|(at, _)| *at <= begun.elapsed()) {
            fleet.upgrade(service, args.kill).await?;
            println!("  {} is release 2 from now on", service.name());
        }
        if args.kill && next_kill <= Instant::now() {
            fleet.kill(Service::ALL[rand::random_range(0..Service::ALL.len())]).await?;
            next_kill = Instant::now() + pause();
        }
        view.show(shop, fleet).await?;
    }
    Ok(())
}

/// Waits until every order is sent and nothing is left to do, or until nothing moves any more.
async fn drain(fleet: &mut Fleet, shop: &Shop, view: &mut View, ledger: &Ledger) -> Result {
    let begun = Instant::now();
    let (mut closed, mut moved_at, mut done_since) = (0, begun, None);
    let mut tick = interval(TEND);
    loop {
        tick.tick().await;
        fleet.all_run()?;
        view.show(shop, fleet).await?;
        let now = shop.numbers().await?;
        if now.orders.closed != closed {
            (closed, moved_at) = (now.orders.closed, Instant::now());
        }
        if now.is_done(ledger.len()) {
            let since = *done_since.get_or_insert_with(Instant::now);
            if since.elapsed() >= QUIET {
                println!("  everything was done {:.1} s after the last order", (since - begun).as_secs_f64());
                return Ok(());
            }
            continue;
        }
        done_since = None;
        shop.replay_blocked().await?;
        if moved_at.elapsed() > STALL_MAX {
            println!("  nothing has moved for {} s", STALL_MAX.as_secs());
            return Ok(());
        }
    }
}

/// Between two kills.
fn pause() -> Duration {
    Duration::from_millis(rand::random_range(600..2_400))
}
