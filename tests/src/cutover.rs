//! Events in the middle of a cutover, and what both builds of their consumers share. The program `cutover_before` takes
//! version 1 alone, `cutover_after` version 2.
//!
//! `cutover_… --db URL [--nats URL] [--die-at N] [--mended]`. The store is told from the address.

use crate::world::{TestStore, World, nats_broker, quick};
use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox::{Catalog, Event, Start, permanent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::sync::Arc;

/// A price was set, as it was told before the cutover.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "cutover.priced", version = 1, topic = "cutover")]
pub struct PricedV1 {
    /// Prices of one thing keep their order.
    #[event(key)]
    pub key: String,
    /// Tells prices apart.
    pub n: i64,
    /// Whether its handler fails until it is mended.
    pub fails: bool,
}

/// A price was set.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "cutover.priced", version = 2, topic = "cutover", upcast_from = PricedV1, also_as = PricedV1)]
pub struct Priced {
    /// Prices of one thing keep their order.
    #[event(key)]
    pub thing: String,
    /// Tells prices apart.
    pub n: i64,
    /// Whether its handler fails until it is mended.
    pub fails: bool,
}

/// Something was counted, as it was told before the cutover. A count that fails is skipped.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "cutover.counted", version = 1, topic = "cutover", on_poison = "skip")]
pub struct CountedV1 {
    /// Counts of one thing keep their order.
    #[event(key)]
    pub key: String,
    /// Tells counts apart.
    pub n: i64,
    /// Whether its handler fails until it is mended.
    pub fails: bool,
}

/// Something was counted. Version 1 leads nowhere.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "cutover.counted", version = 2, topic = "cutover", on_poison = "skip", also_as = CountedV1)]
pub struct Counted {
    /// Counts of one thing keep their order.
    #[event(key)]
    pub thing: String,
    /// Tells counts apart.
    pub n: i64,
    /// Whether its handler fails until it is mended.
    pub fails: bool,
}

/// Something was seen, as it was told before the cutover; in no order.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "cutover.seen", version = 1, topic = "cutover", unordered)]
pub struct SeenV1 {
    /// Tells sights apart.
    pub n: i64,
    /// Whether its handler fails until it is mended.
    pub fails: bool,
}

/// Something was seen; in no order.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "cutover.seen", version = 2, topic = "cutover", unordered, upcast_from = SeenV1, also_as = SeenV1)]
pub struct Seen {
    /// Tells sights apart.
    pub number: i64,
    /// Whether its handler fails until it is mended.
    pub fails: bool,
}

impl From<PricedV1> for Priced {
    fn from(old: PricedV1) -> Self {
        Self { thing: old.key, n: old.n, fails: old.fails }
    }
}

impl From<&Priced> for PricedV1 {
    fn from(new: &Priced) -> Self {
        Self { key: new.thing.clone(), n: new.n, fails: new.fails }
    }
}

impl From<&Counted> for CountedV1 {
    fn from(new: &Counted) -> Self {
        Self { key: new.thing.clone(), n: new.n, fails: new.fails }
    }
}

impl From<SeenV1> for Seen {
    fn from(old: SeenV1) -> Self {
        Self { number: old.n, fails: old.fails }
    }
}

impl From<&Seen> for SeenV1 {
    fn from(new: &Seen) -> Self {
        Self { n: new.number, fails: new.fails }
    }
}

/// How a build fares, by its arguments.
#[derive(Debug)]
pub struct Build {
    /// The handler of an event of this number or a higher one ends the process.
    die_at: i64,
    /// Whether events that fail go well now.
    is_mended: bool,
}

impl Build {
    /// What every handler of both builds does.
    ///
    /// # Errors
    /// For an event that fails, in a build that is not mended.
    pub async fn handle<S: TestStore>(
        &self,
        connection: &mut S::Connection,
        key: &str,
        (n, fails): (i64, bool),
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        S::write_effect(connection, key, n).await?;
        if n >= self.die_at {
            crate::kill_this_process();
        }
        if fails && !self.is_mended {
            return Err(permanent("this build can't handle it").into());
        }
        Ok(())
    }
}

/// Consumes until it is killed.
pub async fn serve() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    let build = Build {
        die_at: value("--die-at").map_or(i64::MAX, |text| text.parse().unwrap()),
        is_mended: arguments.iter().any(|argument| argument == "--mended"),
    };
    let (db, nats) = (value("--db").unwrap(), value("--nats"));
    if db.starts_with("sqlite:") {
        serve_on::<SqliteStore>(db, nats, build).await;
    } else {
        serve_on::<PostgresStore>(db, nats, build).await;
    }
}

async fn serve_on<S: TestStore>(db: &str, nats: Option<&str>, build: Build) {
    let world = World::<S>::at(db).await;
    let catalog = Catalog::collect().unwrap();
    let names = catalog.consumers().iter().map(|consumer| consumer.name);
    let is_ours = |name: &&str| name.starts_with("cutover.") && name.ends_with(S::NAME);
    let (ours, others): (Vec<&str>, Vec<&str>) = names.partition(is_ours);
    let runner = world.outbox.runner().only(ours).elsewhere(others).start_at(Start::Earliest);
    // An odd number of deliveries in memory parts pairs at its edge.
    let runner =
        runner.state(Arc::new(build)).settings(quick).settings(|settings| settings.in_flight_max = 3);
    let runner = match nats {
        Some(url) => runner.consume_from(nats_broker(url, None)),
        None => runner.consume_locally(),
    };
    runner.start().await.unwrap().run_until(std::future::pending()).await.unwrap();
}
