//! The transactional outbox in one program, with SQLite and no server: `cargo run --example quickstart`
//!
//! A shop takes orders and tells of each by an event. Billing charges an order when it hears of it. Three things could
//! go wrong here, and each is made to happen:
//!
//! 1. The shop fails between writing the order and telling of it. Row and event are one transaction ([`shop`]), so
//!    there are both or neither.
//! 2. Billing gets an event twice, as every at-least-once delivery does one day. It notes the events it has handled in
//!    the transaction of what it did ([`billing`]), so the second delivery has no effect.
//! 3. Billing cannot handle an event. It is tried again, then set aside with its error; other orders go on. Once the
//!    cause is mended a person has it replayed.
//!
//! The program checks what it shows, and fails if anything is not so.

mod billing;
mod events;
mod shop;

use billing::CardService;
use outbox::{DeadLetterFilter, Outbox, Runner, Start, Store, Terms, held::Stage, sqlite::SqliteStore};
use std::{
    error::Error,
    time::{Duration, Instant},
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("outbox-quickstart-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let shown = show(&format!("sqlite://{}/shop.db", folder.display())).await;
    std::fs::remove_dir_all(&folder)?;
    shown
}

async fn show(database: &str) -> Result<()> {
    // The store makes its tables beside the application's own, in the same database: that is what lets one transaction
    // hold both.
    let store = SqliteStore::open(database).await?;
    shop::create_tables(store.pool()).await?;
    let outbox = Outbox::builder(store).source("/shop").build();
    let cards = CardService::default();
    let runner = start(&outbox, &cards).await?;

    one_transaction(&outbox).await?;
    runner.stop().await?;
    let runner = delivered_twice(&outbox, &cards).await?;
    set_aside_and_replayed(&outbox, &cards).await?;
    runner.stop().await?;

    // The proof: each committed order was charged once, and nothing else was.
    assert_eq!(charges(&outbox).await?, [(1001, 4_200), (1003, 900), (1004, 1_250)]);
    println!("\nEach committed order was charged exactly once.");
    Ok(())
}

/// Runs the consumers of this program. They read the log of this database: no broker, no server.
async fn start(outbox: &Outbox<SqliteStore>, cards: &CardService) -> Result<Runner> {
    let runner = outbox.runner().consume_locally().state(cards.clone()).start_at(Start::Earliest);
    Ok(runner.start().await?)
}

async fn one_transaction(outbox: &Outbox<SqliteStore>) -> Result<()> {
    println!("1. An order and its event are written in one transaction.");
    shop::place_order(outbox, 1001, 4_200).await?;
    shop::fail_to_place_order(outbox, 1002, 7_700).await?;
    until("order 1001 is charged", async || Ok(!charges(outbox).await?.is_empty())).await
}

/// Has billing get its events a second time. A broker does that when the ack of a handled delivery is lost. Here the
/// consumer's progress through the log is set back, as if it had never been written.
async fn delivered_twice(outbox: &Outbox<SqliteStore>, cards: &CardService) -> Result<Runner> {
    println!("\n2. Every event so far is delivered to billing once more.");
    let rewound = sqlx::query(
        "UPDATE outbox_progress SET settled_seq = (SELECT min(seq) - 1 FROM outbox_log)
          WHERE stage = 'consumer/billing.charge'",
    )
    .execute(outbox.store().pool())
    .await?;
    assert_eq!(rewound.rows_affected(), 1);
    let lag = lag(outbox).await?;
    assert!(lag > 0, "the event is ahead of billing again");
    println!("   billing has {lag} event ahead of it again");

    let runner = start(outbox, cards).await?;
    until("billing has read it again", async || Ok(self::lag(outbox).await? == 0)).await?;
    assert_eq!(charges(outbox).await?, [(1001, 4_200)]);
    println!("   billing met it again, found it in its inbox, and charged nothing");
    Ok(runner)
}

async fn set_aside_and_replayed(outbox: &Outbox<SqliteStore>, cards: &CardService) -> Result<()> {
    println!("\n3. The card service refuses order 1003, and billing fails at it.");
    cards.refuse(1003);
    let event = shop::place_order(outbox, 1003, 900).await?;
    shop::place_order(outbox, 1004, 1_250).await?;

    let set_aside = DeadLetterFilter {
        stage: Some(Stage::consumer("billing.charge")),
        key: Some("1003".to_owned()),
        ..DeadLetterFilter::default()
    };
    let mut dead_letters = Vec::new();
    until("order 1003 is a dead letter, and order 1004 is charged all the same", async || {
        dead_letters = outbox.dead_letters(&set_aside, 10).await?;
        Ok(!dead_letters.is_empty() && charges(outbox).await?.contains(&(1004, 1_250)))
    })
    .await?;
    let [dead] = &dead_letters[..] else { panic!("one event was set aside: {dead_letters:?}") };
    assert_eq!((dead.envelope.id, dead.attempts), (event, 3));
    println!("   set aside after {} attempts: {} of order 1003", dead.attempts, dead.envelope.event_type);
    println!("     {}: {}", dead.reason, dead.error_chain.replace('\n', ": "));
    println!("   order 1004 went on meanwhile");

    println!("   the card service is mended, and the event is replayed");
    cards.accept(1003);
    assert_eq!(outbox.replay(&set_aside, &Terms::new("quickstart", "the card service is mended")).await?, 1);
    until("order 1003 is charged and no dead letter any more", async || {
        Ok(charges(outbox).await?.contains(&(1003, 900))
            && outbox.dead_letters(&set_aside, 1).await?.is_empty())
    })
    .await
}

/// How many events billing has not settled.
async fn lag(outbox: &Outbox<SqliteStore>) -> Result<u64> {
    let billing = Stage::consumer("billing.charge");
    let stages = outbox.store().status().await?;
    let billing = stages.into_iter().find(|status| status.stage == billing);
    Ok(billing.and_then(|status| status.lag).ok_or("billing reads the log of this database")?)
}

/// Every charge there is: order and cents.
async fn charges(outbox: &Outbox<SqliteStore>) -> Result<Vec<(i64, i64)>> {
    let rows = sqlx::query_as("SELECT order_id, cents FROM charges ORDER BY order_id");
    Ok(rows.fetch_all(outbox.store().pool()).await?)
}

/// Waits until it is so; a few milliseconds in truth.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so().await? {
        if Instant::now() > deadline {
            return Err(format!("this did not come true: {what}").into());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
