//! The local broker: a consumer is a stage of its own over the log of its own store, so a slow one delays no other.
//!
//! Progress moves when everything below it is handled, held or dead. It is written once for many acks; what a crash
//! repeats is absorbed by the inbox.

#[cfg(feature = "conformance")]
use super::Capabilities;
use super::{AckToken, BrokerError, Delivery, Subscription};
use crate::{
    cursor::{Filter, LogCursor, Settled, Start},
    envelope::Seq,
    lease::Fence,
    store::{News, Store},
    wake::{Readiness, WakeReceiver},
};
use futures_util::future::BoxFuture;
use std::{any::Any, collections::BTreeMap, time::Duration};
use tokio::time::Instant;

/// What the log of a store can do.
#[cfg(feature = "conformance")]
pub(crate) const CAPABILITIES: Capabilities =
    Capabilities { ordered: true, replayable: true, ..Capabilities::least("local") };

/// The longest time between an ack and its record while more acks keep coming.
const SETTLE_INTERVAL: Duration = Duration::from_millis(100);

/// One consumer's deliveries from the log.
pub(crate) struct LocalSubscription<S: Store> {
    store: S,
    fence: Fence,
    log: S::Log,
    readiness: Readiness,
    /// Delivered rows and whether they are acked. Late ones lie below the progress and are settled one by one.
    window: BTreeMap<Seq, Row>,
    /// The newest row that was read.
    read_to: Option<Seq>,
    settled: Option<Seq>,
    settled_at: Instant,
    late_done: Vec<Seq>,
    /// Whether the log is likely to hold more than was read.
    expects_more: bool,
    /// Written in a handler's transaction whose end is not known yet.
    in_transaction: Option<Seq>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    acked: bool,
    late: bool,
}

impl<S: Store> LocalSubscription<S> {
    pub(crate) async fn open(
        store: S,
        fence: Fence,
        topics: Vec<String>,
        start: Start,
        wake: WakeReceiver,
    ) -> Result<Self, BrokerError> {
        let filter = Filter { topics, ..Filter::default() };
        let log = store.open_log(&fence, filter, start).await.map_err(BrokerError::Log)?;
        Ok(Self {
            store,
            fence,
            log,
            readiness: Readiness::new(wake, News::Logged),
            window: BTreeMap::new(),
            read_to: None,
            settled: None,
            settled_at: Instant::now(),
            late_done: Vec::new(),
            expects_more: true,
            in_transaction: None,
        })
    }

    /// Everything up to here is finished once `also` is acked too.
    fn finished_with(&self, also: Option<Seq>) -> Option<Seq> {
        let is_open = |(seq, row): &(&Seq, &Row)| !row.acked && !row.late && Some(**seq) != also;
        match self.window.iter().find(is_open) {
            None => self.read_to,
            Some((open, _)) => {
                self.window.range(..open).rev().find(|(_, row)| !row.late).map(|(seq, _)| *seq)
            }
        }
    }

    /// The progress that is not written yet.
    fn unwritten(&self) -> Option<Seq> {
        self.finished_with(None).filter(|through| Some(*through) > self.settled)
    }

    async fn settle(&mut self) -> Result<(), BrokerError> {
        let through = self.unwritten();
        if through.is_none() && self.late_done.is_empty() {
            return Ok(());
        }
        let settled = Settled { through, late: std::mem::take(&mut self.late_done) };
        self.log.settle(&self.fence, &settled, &[]).await.map_err(BrokerError::Log)?;
        self.remember(through);
        Ok(())
    }

    fn remember(&mut self, through: Option<Seq>) {
        self.settled = through.or(self.settled);
        self.settled_at = Instant::now();
        if let Some(through) = through {
            // The row at the progress itself goes too: nothing below it is needed to find the next one.
            self.window.retain(|seq, row| *seq > through || (row.late && !row.acked));
        }
    }

    /// Reads once; what matches joins the window.
    async fn read(&mut self, max: u32) -> Result<(Vec<Delivery>, bool), BrokerError> {
        let page = self.log.read(max).await.map_err(BrokerError::Log)?;
        self.read_to = page.through.or(self.read_to);
        self.late_done.extend(page.late_unmatched);
        let mut deliveries = Vec::with_capacity(page.events.len());
        for event in page.events {
            self.window.insert(event.envelope.seq, Row { acked: false, late: event.late });
            let token = AckToken(event.envelope.seq.0.cast_unsigned());
            deliveries.push(Delivery { token, event: Ok(event.envelope) });
        }
        Ok((deliveries, page.full))
    }
}

impl<S: Store> Subscription for LocalSubscription<S> {
    fn ready(&mut self, at_most: Duration) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(async move {
            if !self.expects_more {
                self.readiness.wait(&self.store, at_most).await;
            }
            Ok(())
        })
    }

    fn take(&mut self, max: u32) -> BoxFuture<'_, Result<Vec<Delivery>, BrokerError>> {
        Box::pin(async move {
            let (deliveries, full) = self.read(max).await?;
            self.expects_more = full;
            if !deliveries.is_empty() {
                self.readiness.found();
            }
            Ok(deliveries)
        })
    }

    fn has_come_to_new(&self) -> bool {
        !self.expects_more
    }

    fn ack<'a>(&'a mut self, tokens: &'a [AckToken]) -> BoxFuture<'a, Result<(), BrokerError>> {
        Box::pin(async move {
            for token in tokens {
                let seq = Seq(token.0.cast_signed());
                if let Some(row) = self.window.get_mut(&seq) {
                    row.acked = true;
                    if row.late {
                        self.late_done.push(seq);
                        self.window.remove(&seq);
                    }
                }
            }
            if let Some(through) = self.in_transaction.take() {
                self.remember(Some(through));
            }
            if self.settled_at.elapsed() >= SETTLE_INTERVAL { self.settle().await } else { Ok(()) }
        })
    }

    fn acks_in_transaction(&self) -> bool {
        S::SETTLES_IN_HANDLER
    }

    fn ack_in<'a>(
        &'a mut self,
        tx: &'a mut (dyn Any + Send),
        token: &'a AckToken,
    ) -> BoxFuture<'a, Result<(), BrokerError>> {
        Box::pin(async move {
            let seq = Seq(token.0.cast_signed());
            // Lanes are worked in turn, not in the order of the log: lower rows may still be open.
            let Some(through) = self.finished_with(Some(seq)).filter(|through| Some(*through) > self.settled)
            else {
                return Ok(());
            };
            let tx = tx.downcast_mut::<S::Tx>().expect("the handler's transaction is the store's");
            let settled = Settled { through: Some(through), late: Vec::new() };
            self.log.settle_in(tx, &self.fence, &settled).await.map_err(BrokerError::Log)?;
            self.in_transaction = Some(through);
            Ok(())
        })
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(self.settle())
    }

    fn nack<'a>(
        &'a mut self,
        _token: &'a AckToken,
        _delay: Duration,
    ) -> BoxFuture<'a, Result<(), BrokerError>> {
        // The row stays unsettled and is read again by the next subscription.
        Box::pin(std::future::ready(Ok(())))
    }
}
