//! The shop as whoever runs it sees it: its tables, and the outboxes of its services.

use crate::customers::BLOCKED;
use outbox::{DeadLetterFilter, Outbox, Store, Terms, held::Stage, postgres::PostgresStore};
use sqlx::PgPool;
use storefront::{
    Result,
    broker::BrokerName,
    service::{self, Service},
};

/// The tables and outboxes of all services.
#[derive(Debug)]
pub(crate) struct Shop {
    outboxes: Vec<Outbox<PostgresStore>>,
    billing: Outbox<PostgresStore>,
}

/// How things stand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Numbers {
    /// Orders that were placed, charged and sent.
    pub(crate) orders: Orders,
    /// Events that no relay has published, or, without a broker, that some consumer has not handled.
    pub(crate) lag: u64,
    /// Events that wait with their key until they are tried again.
    pub(crate) held: u64,
    /// Events that were set aside.
    pub(crate) dead_letters: u64,
}

/// Orders in numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Orders {
    pub(crate) placed: i64,
    pub(crate) charged: i64,
    pub(crate) sent: i64,
    /// Those whose customers see that they were charged and sent.
    pub(crate) closed: i64,
    /// How long ago the oldest was placed that is not sent and can be charged, in seconds.
    pub(crate) oldest_open_secs: f64,
}

impl Shop {
    /// Opens it once its services have made their tables.
    pub(crate) async fn open(broker: BrokerName, database_url: &str) -> Result<Self> {
        let billing = service::open(Service::Billing, broker, database_url).await?;
        let mut outboxes = vec![billing.clone()];
        // Without a broker there is one outbox.
        if broker != BrokerName::Local {
            for service in [Service::Orders, Service::Shipping] {
                outboxes.push(service::open(service, broker, database_url).await?);
            }
        }
        Ok(Self { outboxes, billing })
    }

    pub(crate) fn pool(&self) -> &PgPool {
        self.billing.store().pool()
    }

    /// The number of the next order; an earlier run may have left some.
    pub(crate) async fn next_order(&self) -> Result<i64> {
        Ok(sqlx::query_scalar(include_str!("../../sql/select_next_order.sql")).fetch_one(self.pool()).await?)
    }

    /// The bank blocks a card.
    pub(crate) async fn block_card(&self) -> Result {
        let insert = sqlx::query(include_str!("../../sql/insert_blocked.sql"));
        insert.bind(BLOCKED).execute(self.pool()).await?;
        Ok(())
    }

    /// The bank lifts its block.
    pub(crate) async fn unblock_card(&self) -> Result {
        let delete = sqlx::query(include_str!("../../sql/delete_blocked.sql"));
        delete.bind(BLOCKED).execute(self.pool()).await?;
        Ok(())
    }

    /// Replays what billing could not charge for a blocked card, as `outbox dead-letters replay` would. What failed for
    /// another reason stays where it is, to be seen.
    pub(crate) async fn replay_blocked(&self) -> Result {
        let blocked = DeadLetterFilter {
            stage: Some(Stage::consumer("billing.charge")),
            reason: Some("handler-error".to_owned()),
            ..DeadLetterFilter::default()
        };
        self.billing.replay(&blocked, &Terms::new("storefront", "the bank lifted its block")).await?;
        Ok(())
    }

    /// How things stand.
    pub(crate) async fn numbers(&self) -> Result<Numbers> {
        let (placed, charged, sent, closed, oldest_open_secs) =
            sqlx::query_as(include_str!("../../sql/select_orders.sql")).fetch_one(self.pool()).await?;
        let orders = Orders { placed, charged, sent, closed, oldest_open_secs };
        let mut numbers = Numbers { orders, ..Numbers::default() };
        for outbox in &self.outboxes {
            let stages = outbox.store().status().await?;
            // Each relay or consumer has the same log ahead of it, so the slowest tells.
            numbers.lag += stages.iter().filter_map(|stage| stage.lag).max().unwrap_or(0);
            numbers.held += stages.iter().map(|stage| stage.held).sum::<u64>();
            numbers.dead_letters += stages.iter().map(|stage| stage.dead_letters).sum::<u64>();
        }
        Ok(numbers)
    }
}

impl Numbers {
    /// Whether that many orders are done, and nobody has anything left to do.
    pub(crate) fn is_done(&self, orders: usize) -> bool {
        let is_idle = self.lag == 0 && self.held == 0 && self.dead_letters == 0;
        let Orders { placed, closed, .. } = self.orders;
        is_idle && closed == placed && usize::try_from(closed).is_ok_and(|closed| closed >= orders)
    }
}
