//! The orders service: takes orders from customers, and follows what becomes of them.

use crate::Result;
use outbox::{Context, Event, EventSet, Outbox, consumer, postgres::PostgresStore};
use sqlx::PgTransaction;
use std::{str::FromStr, time::Duration};
use storefront_events::{OrderCharged, OrderSent};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    time::sleep,
};

/// What a customer orders. The customer gives it its number, so it can be sent again when the answer got lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its number.
    pub id: i64,
    /// Who orders.
    pub customer: String,
    /// What the goods cost.
    pub goods_cents: i64,
    /// What the postage costs.
    pub postage_cents: i64,
}

impl Order {
    /// What the customer pays in all.
    #[must_use]
    pub fn cents(&self) -> i64 {
        self.goods_cents + self.postage_cents
    }
}

/// As a line: number, customer, goods, postage.
impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {} {}", self.id, self.customer, self.goods_cents, self.postage_cents)
    }
}

impl FromStr for Order {
    type Err = Box<dyn std::error::Error + Send + Sync>;

    fn from_str(line: &str) -> Result<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [id, customer, goods, postage] = words[..] else {
            return Err("an order is a line of number, customer, goods and postage".into());
        };
        let customer = customer.to_owned();
        Ok(Self { id: id.parse()?, customer, goods_cents: goods.parse()?, postage_cents: postage.parse()? })
    }
}

/// Takes orders, a line each, and answers `placed` when one is committed. `placed` is how this release tells of it.
pub(crate) async fn take_orders<E: Event + Send + Sync + 'static>(
    outbox: Outbox<PostgresStore>,
    listener: TcpListener,
    placed: fn(Order) -> E,
) {
    loop {
        let customer = match listener.accept().await {
            Ok((customer, _)) => customer,
            // Such as too many open files: there is room again when a customer has gone.
            Err(error) => {
                eprintln!("no customer can be let in now: {error}");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let outbox = outbox.clone();
        tokio::spawn(async move {
            if let Err(error) = serve_customer(&outbox, customer, placed).await {
                eprintln!("a customer was not served and has to ask again: {error}");
            }
        });
    }
}

async fn serve_customer<E: Event>(
    outbox: &Outbox<PostgresStore>,
    mut customer: TcpStream,
    placed: fn(Order) -> E,
) -> Result {
    let (asked, mut answers) = customer.split();
    let mut lines = BufReader::new(asked).lines();
    while let Some(line) = lines.next_line().await? {
        place(outbox, line.parse()?, placed).await?;
        answers.write_all(b"placed\n").await?;
    }
    Ok(())
}

/// Places an order and tells of it in one transaction, unless it was placed before.
async fn place<E: Event>(outbox: &Outbox<PostgresStore>, order: Order, placed: fn(Order) -> E) -> Result {
    let mut tx = outbox.begin().await?;
    let inserted = sqlx::query(include_str!("../sql/insert_order.sql"))
        .bind(order.id)
        .bind(&order.customer)
        .bind(order.cents())
        .execute(&mut *tx)
        .await?;
    if inserted.rows_affected() == 0 {
        tx.rollback().await;
        return Ok(());
    }
    outbox.enqueue(&mut tx, &placed(order)).await?;
    tx.commit().await?;
    Ok(())
}

/// What becomes of an order.
#[derive(Debug, EventSet)]
enum Progress {
    Charged(OrderCharged),
    Sent(OrderSent),
}

/// Notes how far an order is, for the customer to see. The two events come from two services, in any order.
#[consumer(name = "orders.follow")]
async fn follow(progress: Progress, tx: &mut PgTransaction<'_>, _ctx: &Context) -> Result {
    let (statement, order_id) = match progress {
        Progress::Charged(charged) => (include_str!("../sql/update_order_charged.sql"), charged.order_id),
        Progress::Sent(sent) => (include_str!("../sql/update_order_sent.sql"), sent.order_id),
    };
    sqlx::query(statement).bind(order_id).execute(&mut **tx).await?;
    Ok(())
}
