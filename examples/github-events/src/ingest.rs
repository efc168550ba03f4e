//! Taking webhooks in: each is stored and told of in one transaction.

use crate::{
    Result,
    database::{self, Database, Value},
    webhook::Webhook,
};
use outbox::Outbox;

/// Stores every webhook of the file, as often as `repeat` says, and enqueues its event. Those that are stored already
/// are left out. Gives how many were new.
pub(crate) async fn ingest<S: Database>(
    outbox: &Outbox<S>,
    webhooks: &[Webhook],
    repeat: u32,
) -> Result<i64> {
    // They are stored in order, so the first ones are there after a crash and the others are not.
    let stored = database::number(outbox, include_str!("sql/count_deliveries.sql")).await?;
    let mut new = 0;
    for (id, webhook) in ids(webhooks, repeat).skip(usize::try_from(stored)?) {
        new += i64::from(take_in(outbox, id, webhook).await?);
    }
    Ok(new)
}

/// Each delivery with its id: the round and the line.
pub(crate) fn ids(webhooks: &[Webhook], repeat: u32) -> impl Iterator<Item = (String, &Webhook)> {
    (1..=repeat).flat_map(move |round| {
        let lines = webhooks.iter().enumerate();
        lines.map(move |(line, webhook)| (format!("{round}-{}", line + 1), webhook))
    })
}

/// Stores one and enqueues its event, unless it is stored already. GitHub sends a webhook again when it saw no answer,
/// so the row is what tells a new one from a copy, and the event is bound to the row.
async fn take_in<S: Database>(outbox: &Outbox<S>, id: String, webhook: &Webhook) -> Result<bool> {
    let mut tx = outbox.begin().await?;
    let row = [
        Value::Text(&id),
        Value::Text(&webhook.event),
        Value::Text(webhook.action.as_deref().unwrap_or_default()),
        Value::Text(webhook.payload.get()),
    ];
    let inserted = database::lent(&mut tx).execute(include_str!("sql/insert_delivery.sql"), &row).await?;
    if inserted == 0 {
        tx.rollback().await;
        return Ok(false);
    }
    outbox.enqueue(&mut tx, webhook.event(id)?).await?;
    tx.commit().await?;
    Ok(true)
}
