//! Takes, keeps and gives back the leases of one stage, apart from the work that they allow.
//!
//! ```text
//!   free or expired ──acquire──▶ granted ──renewed while the work moves──▶ granted
//!        ▲                          │ lost, or the work stands still: stop at once
//!        └──── released ◀── drained ┘ hand-over or shutdown: finish what is in flight
//! ```
//! A stage with several shares (one a partition) spreads them over its members: each aims at its equal part, takes free
//! ones up to that, and hands over what is above it.

use crate::{
    clock::BootTime,
    held::{Share, Stage},
    lease::{Fence, LeaseName, Owner},
    store::{Store, StoreError},
};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// The right to work on one share, while it lasts.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    pub(crate) fence: Fence,
    /// From the death of a leader to the work of the next one, at most.
    pub(crate) takeover: Duration,
    /// Cancelled when the work is to end after what is in flight.
    pub(crate) hand_over: CancellationToken,
    /// Cancelled when the lease is lost: nothing more may be done.
    pub(crate) lost: CancellationToken,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Nanoseconds of boot time at which the lease may be another's.
    valid_until: AtomicU64,
    /// Grows with every step of the work.
    moves: AtomicU64,
    /// Told when `valid_until` grew.
    renewed: Notify,
}

impl Grant {
    fn new(fence: Fence, takeover: Duration, valid_until: BootTime) -> Self {
        let shared = Shared {
            valid_until: AtomicU64::new(valid_until.as_nanos()),
            moves: AtomicU64::new(0),
            renewed: Notify::new(),
        };
        Self {
            fence,
            takeover,
            hand_over: CancellationToken::new(),
            lost: CancellationToken::new(),
            shared: Arc::new(shared),
        }
    }

    /// Waits until nobody else can have the lease, also when this machine was suspended meanwhile: at once, unless a renewal
    /// takes longer than the lease has left.
    ///
    /// # Errors
    /// The lease is lost.
    pub(crate) async fn valid(&self) -> Result<(), StoreError> {
        loop {
            let renewed = self.shared.renewed.notified();
            if self.is_valid() {
                return Ok(());
            }
            tokio::select! { biased;
                () = self.lost.cancelled() => return Err(self.lost_error()),
                () = renewed => {}
            }
        }
    }

    fn is_valid(&self) -> bool {
        !self.lost.is_cancelled()
            && BootTime::now().as_nanos() < self.shared.valid_until.load(Ordering::Acquire)
    }

    /// Says that the work moves. Without it the lease is given up.
    pub(crate) fn moved(&self) {
        self.shared.moves.fetch_add(1, Ordering::Release);
    }

    /// The error of a write that must not be made any more.
    fn lost_error(&self) -> StoreError {
        StoreError::LeaseLost { lease: self.fence.lease().to_string() }
    }
}

/// How leases of one stage are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeaseConfig {
    /// From the death of a leader to the work of the next one, at most.
    pub(crate) takeover: Duration,
    /// How long the work may stand still; above every time-out of its own.
    pub(crate) stall_max: Duration,
}

impl LeaseConfig {
    /// A lease in the database lasts three of four ticks, so that a standby that looks every tick works within `takeover`.
    fn tick(&self) -> Duration {
        self.takeover / 4
    }

    fn ttl(&self) -> Duration {
        self.tick() * 3
    }
}

/// Keeps the leases of one stage.
pub(crate) struct Keeper<S> {
    pub(crate) store: S,
    pub(crate) stage: Stage,
    pub(crate) shares: Vec<Share>,
    pub(crate) owner: Owner,
    pub(crate) config: LeaseConfig,
    /// Where new grants go.
    pub(crate) grants: mpsc::Sender<Grant>,
    /// The shares whose work has ended.
    pub(crate) ended: mpsc::Receiver<Share>,
    /// Cancelled at shutdown.
    pub(crate) stop: CancellationToken,
}

struct Held {
    grant: Grant,
    /// When the database last said that the lease is this owner's.
    confirmed_at: BootTime,
    moves: u64,
    moved_at: BootTime,
}

impl<S: Store> Keeper<S> {
    /// Runs until `stop` and until all work has ended.
    pub(crate) async fn keep(mut self) {
        let mut held: HashMap<Share, Held> = HashMap::new();
        let (mut failing, mut left) = (false, false);
        let mut freed = 0;
        let leases: Vec<LeaseName> =
            self.shares.iter().map(|share| LeaseName::of(&self.stage, share)).collect();
        loop {
            // Counted from here: a slow answer already costs a part of what the lease lasts.
            let next = Instant::now() + self.config.tick();
            match self.round(&mut held).await {
                Ok(()) => failing = false,
                Err(error) if !failing => {
                    failing = true;
                    tracing::warn!(
                        stage = self.stage.as_str(),
                        error = &error as &dyn std::error::Error,
                        "leases cannot be kept; work goes on until they run out"
                    );
                }
                Err(_) => {}
            }
            expire(&held, self.config.ttl());
            let stopping = self.stop.is_cancelled();
            if stopping && held.is_empty() {
                break;
            }
            if stopping && !left {
                left = true;
                self.leave().await;
            }
            if stopping {
                // Here and not where the stop is awaited: it may also come during a round.
                held.values().for_each(|held| held.grant.hand_over.cancel());
            }
            tokio::select! { biased;
                ended = self.ended.recv() => match ended {
                    Some(share) => self.give_back(&mut held, &share).await,
                    None => break,
                },
                () = self.stop.cancelled(), if !stopping => {}
                () = self.store.freed(&leases, &mut freed), if !stopping && held.len() < leases.len() => {}
                () = sleep_until(next) => {}
            }
        }
        if !left {
            self.leave().await;
        }
    }

    /// Says goodbye, before the work has ended: the others take up what is handed over at once.
    async fn leave(&self) {
        if self.shares.len() > 1 {
            // A member that cannot say goodbye runs out by itself.
            let _ = self.store.leave(&self.stage, self.owner).await;
        }
    }

    async fn round(&mut self, held: &mut HashMap<Share, Held>) -> Result<(), StoreError> {
        self.renew(held).await?;
        if self.stop.is_cancelled() {
            return Ok(());
        }
        let fair = self.fair_part().await?;
        for held in held.values().skip(fair) {
            held.grant.hand_over.cancel();
        }
        for share in &self.shares {
            if held.len() >= fair {
                break;
            }
            if held.contains_key(share) {
                continue;
            }
            if let Some(grant) = self.acquire(share).await? {
                let now = BootTime::now();
                let taken = Held { grant: grant.clone(), confirmed_at: now, moves: 0, moved_at: now };
                held.insert(share.clone(), taken);
                if self.grants.send(grant).await.is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn fair_part(&self) -> Result<usize, StoreError> {
        if self.shares.len() == 1 {
            return Ok(1);
        }
        let members = self.store.join(&self.stage, self.owner, self.config.ttl()).await?;
        Ok(self.shares.len().div_ceil(members.max(1) as usize))
    }

    async fn acquire(&self, share: &Share) -> Result<Option<Grant>, StoreError> {
        let lease = LeaseName::of(&self.stage, share);
        let valid_until = BootTime::now() + self.config.ttl();
        let epoch = self.store.acquire(&lease, self.owner, self.config.ttl()).await?;
        Ok(epoch.map(|epoch| {
            let fence = Fence { stage: self.stage.clone(), share: share.clone(), owner: self.owner, epoch };
            tracing::info!(lease = lease.as_str(), epoch, "leads");
            Grant::new(fence, self.config.takeover, valid_until)
        }))
    }

    /// Renews the leases whose work moves; those that are gone are lost.
    async fn renew(&self, held: &mut HashMap<Share, Held>) -> Result<(), StoreError> {
        let now = BootTime::now();
        let mut leases = Vec::new();
        for held in held.values_mut() {
            let moves = held.grant.shared.moves.load(Ordering::Acquire);
            if moves != held.moves {
                (held.moves, held.moved_at) = (moves, now);
            }
            if now < held.moved_at + self.config.stall_max {
                leases.push(held.grant.fence.lease());
            } else {
                tracing::error!(
                    lease = held.grant.fence.lease().as_str(),
                    "the work stands still; its lease is given up"
                );
                held.grant.lost.cancel();
            }
        }
        if leases.is_empty() {
            return Ok(());
        }
        let valid_until = now + self.config.ttl();
        let renewed = self.store.renew(&leases, self.owner, self.config.ttl()).await?;
        for held in held.values_mut() {
            if renewed.contains(&held.grant.fence.lease()) {
                held.confirmed_at = BootTime::now();
                held.grant.shared.valid_until.store(valid_until.as_nanos(), Ordering::Release);
                held.grant.shared.renewed.notify_waiters();
            } else {
                held.grant.lost.cancel();
            }
        }
        Ok(())
    }

    async fn give_back(&self, held: &mut HashMap<Share, Held>, share: &Share) {
        let Some(held) = held.remove(share) else { return };
        if held.grant.lost.is_cancelled() {
            return;
        }
        let lease = held.grant.fence.lease();
        match self.store.release(&lease, self.owner).await {
            Ok(()) => tracing::info!(lease = lease.as_str(), "no longer leads"),
            Err(error) => tracing::warn!(
                lease = lease.as_str(),
                error = &error as &dyn std::error::Error,
                "a lease was not given back; it runs out by itself"
            ),
        }
    }
}

/// Ends the work of leases that ran out unrenewed.
///
/// A renewal that took longer than the lease, as behind a slow handler of a store with one writer, still says that nobody
/// else had it: the work goes on, and what must not be done twice waits for [`Grant::valid`] first.
fn expire(held: &HashMap<Share, Held>, ttl: Duration) {
    let now = BootTime::now();
    for held in held.values() {
        if held.confirmed_at + ttl <= now {
            held.grant.lost.cancel();
        }
    }
}
