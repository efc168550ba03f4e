//! A producer that writes notes until it is told to stop.

use outbox::Outbox;
use outbox::postgres::PostgresStore;
use outbox_tests::world::{Noted, noted};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

/// The notes of one transaction, and the time between two.
const TOGETHER: i64 = 5;
const PAUSE: Duration = Duration::from_millis(10);
const KEYS: i64 = 17;

pub(super) struct Writer {
    stop: Arc<AtomicBool>,
    task: JoinHandle<usize>,
}

impl Writer {
    pub(super) fn start(outbox: &Outbox<PostgresStore>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(write(outbox.clone(), Arc::clone(&stop)));
        Self { stop, task }
    }

    /// Ends after the transaction that is open; gives how many notes were numbered. Where no database was away, all are in the
    /// log.
    pub(super) async fn stop(self) -> usize {
        self.stop.store(true, Ordering::SeqCst);
        self.task.await.unwrap()
    }
}

async fn write(outbox: Outbox<PostgresStore>, stop: Arc<AtomicBool>) -> usize {
    let mut ticks = interval(PAUSE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut next = 0;
    while !stop.load(Ordering::SeqCst) {
        ticks.tick().await;
        let notes: Vec<_> = (next..next + TOGETHER).map(|n| noted(&format!("key-{}", n % KEYS), n)).collect();
        // A number is not used again: whether its transaction committed is not known.
        next += TOGETHER;
        let _ = enqueue(&outbox, &notes).await;
    }
    usize::try_from(next).unwrap()
}

async fn enqueue(
    outbox: &Outbox<PostgresStore>,
    notes: &[Noted],
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut tx = outbox.begin().await?;
    outbox.enqueue_batch(&mut tx, notes).await?;
    tx.commit().await?;
    Ok(())
}
