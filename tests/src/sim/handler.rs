//! The consumers: each writes an effect, and fares as the event plans.

use super::client::SimTx;
use super::event::{EVENT_TYPE, Plan, SHARED, name_of};
use super::server::Statement;
use crate::history::Fate;
use futures_util::future::BoxFuture;
use outbox::consumer::{HandlerEntry, HandlerError, Invocation};
use outbox::{ConsumedEvent, ConsumerEntry, RetryPolicy};
use std::time::Duration;

/// How often a stage tries an event.
pub(super) const RETRY: RetryPolicy =
    RetryPolicy { attempts: 4, base: Duration::from_millis(50), max: Duration::from_millis(400) };

/// A consumer of the log.
pub(super) static LEDGER: HandlerEntry = entry("ledger");
/// A consumer of the broker.
pub(super) static MAIL: HandlerEntry = entry("mail");

const fn entry(name: &'static str) -> HandlerEntry {
    HandlerEntry {
        entry: ConsumerEntry { name, events, package: "simulation", file: file!(), line: line!() },
        retry: RETRY,
        timeout: Duration::from_secs(3),
        concurrency: 3,
        transaction: None,
        states: Vec::new,
        call,
    }
}

fn events() -> Vec<ConsumedEvent> {
    vec![ConsumedEvent { event_type: EVENT_TYPE, event_version: 1, topic: SHARED, upcast_to: None }]
}

fn call(invocation: Invocation<'_>) -> BoxFuture<'_, Result<(), HandlerError>> {
    let event = invocation.context.envelope().event.clone();
    let stage = format!("consumer/{}", invocation.context.consumer());
    let attempt = invocation.context.attempt();
    let tx = invocation.tx.downcast_mut::<SimTx>().expect("the transaction is the store's");
    Box::pin(async move {
        let world = tx.world().clone();
        world.tried(&stage, event.id);
        world.record(Fate::Delivered.of(&stage, &name_of(&event)));
        world.pause().await;
        Statement::begin(&world, tx.id).map_err(failed)?.xid().map_err(failed)?;
        if let Some(open) = world.database().txs.open.get_mut(&tx.id) {
            open.effects.push((stage, name_of(&event)));
        }
        world.pause().await;
        match Plan::of(&event) {
            Plan::HandlerFails(attempts) if attempt <= attempts => Err(failed("as planned")),
            Plan::HandlerFailsForGood if !world.is_mended() => Err(failed("as planned")),
            Plan::HandlerSwallows if attempt == 1 => {
                if let Some(open) = world.database().txs.open.get_mut(&tx.id) {
                    open.is_aborted = true;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    })
}

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> HandlerError {
    HandlerError::Failed(error.into())
}
