//! The customers, who order and keep their receipts.

use crate::check::Ledger;
use std::{
    sync::Arc,
    sync::atomic::{AtomicBool, AtomicI64, Ordering},
    time::Duration,
};
use storefront::{Result, orders::Order};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    task::JoinSet,
    time::{interval, sleep, timeout},
};

/// How many order at once.
const CUSTOMERS: u32 = 4;

/// How long an answer may take before a customer asks again, and how long all may take for their last one.
const ANSWER_MAX: Duration = Duration::from_secs(5);
const LAST_ANSWER_MAX: Duration = Duration::from_secs(60);

/// The customer whose card the bank has blocked, and how seldom that one orders.
pub(crate) const BLOCKED: &str = "mallory";
const BLOCKED_EVERY: i64 = 50;

const NAMES: [&str; 4] = ["ann", "bob", "cem", "dua"];

/// Customers who order until they are told that the shop closes.
#[derive(Debug)]
pub(crate) struct Customers {
    ordering: JoinSet<Result<Ledger>>,
    is_closing: Arc<AtomicBool>,
}

impl Customers {
    /// Lets them order so many times a second in all.
    pub(crate) fn begin(address: String, rate: u32, first: i64) -> Self {
        let mut ordering = JoinSet::new();
        let is_closing = Arc::new(AtomicBool::new(false));
        let next = Arc::new(AtomicI64::new(first));
        for _ in 0..CUSTOMERS {
            let (address, is_closing, next) = (address.clone(), is_closing.clone(), next.clone());
            ordering.spawn(async move {
                let mut receipts = Ledger::new();
                let mut tick = interval(Duration::from_secs(1) * CUSTOMERS / rate);
                let mut connection = None;
                while !is_closing.load(Ordering::Relaxed) {
                    tick.tick().await;
                    let order = order(next.fetch_add(1, Ordering::Relaxed));
                    insist(&address, &mut connection, &order).await;
                    receipts.insert(order.id, order.cents());
                }
                Ok(receipts)
            });
        }
        Self { ordering, is_closing }
    }

    /// Lets them wait for their last answers; gives the receipts of all.
    pub(crate) async fn end(mut self) -> Result<Ledger> {
        self.is_closing.store(true, Ordering::Relaxed);
        let mut receipts = Ledger::new();
        let all = async {
            while let Some(ended) = self.ordering.join_next().await {
                receipts.extend(ended??);
            }
            Ok(receipts)
        };
        timeout(LAST_ANSWER_MAX, all).await.map_err(|_| "the orders service takes no orders any more")?
    }
}

fn order(id: i64) -> Order {
    let name = if id % BLOCKED_EVERY == 0 { BLOCKED } else { NAMES[rand::random_range(0..NAMES.len())] };
    Order {
        id,
        customer: name.to_owned(),
        goods_cents: rand::random_range(100..20_000),
        postage_cents: rand::random_range(0..10) * 50,
    }
}

/// Orders until the answer is there. A service that died before it answered may or may not have placed the order, so the
/// same one is sent again.
async fn insist(address: &str, connection: &mut Option<BufReader<TcpStream>>, order: &Order) {
    loop {
        match timeout(ANSWER_MAX, ask(address, connection, order)).await {
            Ok(Ok(())) => return,
            _ => *connection = None,
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn ask(address: &str, connection: &mut Option<BufReader<TcpStream>>, order: &Order) -> Result {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(BufReader::new(TcpStream::connect(address).await?)),
    };
    connection.write_all(format!("{order}\n").as_bytes()).await?;
    let mut answer = String::new();
    connection.read_line(&mut answer).await?;
    if answer == "placed\n" { Ok(()) } else { Err("no answer".into()) }
}
