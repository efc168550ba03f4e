//! Tells people that dead letters have come: once for each rise, and not for each event.
//!
//! ```text
//!          new dead letters: the hook is called until it succeeds
//!   calm ─────────────────────────────────────────────────────────▶ rising
//!     ▲                                                               │ new ones: nothing more is told
//!     └───────────────────────────────────────────────────────────────┘ none at a look
//! ```
//! Of the processes that have a hook one looks, by a lease of its own. Who takes over counts what came in the last
//! [`LOOK_BACK`] as new: a rise may be told twice when the process changes, and is not left untold.

use crate::{
    dead_letter::{DeadLetterCount, DeadLetterFilter},
    held::Stage,
    leadership::Grant,
    pause::Pauses,
    store::{Store, StoreError},
};
use futures_util::future::BoxFuture;
use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fmt,
    sync::Arc,
    time::Duration,
};
use time::OffsetDateTime;

/// How long ago a dead letter may have come that nobody who looks now has seen.
const LOOK_BACK: Duration = Duration::from_secs(60);

/// How long one call of the hook may take.
pub(crate) const CALL_MAX: Duration = Duration::from_secs(30);

/// Dead letters of one relay or consumer have come.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Growth {
    /// The relay or consumer.
    pub stage: Stage,
    /// How many new ones there were at the look that found the rise.
    pub new: u64,
    /// Those by type, version and reason.
    pub groups: Vec<DeadLetterCount>,
}

type Told = Result<(), Box<dyn Error + Send + Sync>>;

/// What is called when dead letters have come.
#[derive(Clone)]
pub(crate) struct Hook(Arc<dyn Fn(Growth) -> BoxFuture<'static, Told> + Send + Sync>);

impl Hook {
    pub(crate) fn new<F>(hook: impl Fn(Growth) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Told> + Send + 'static,
    {
        Self(Arc::new(move |growth| Box::pin(hook(growth))))
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// What a leader of alerts works with.
#[derive(Debug)]
pub(crate) struct AlertWorker<S: Store> {
    pub(crate) store: S,
    pub(crate) hook: Hook,
    /// The time between two looks.
    pub(crate) every: Duration,
}

/// Looks until the grant ends.
pub(crate) async fn run<S: Store>(worker: &AlertWorker<S>, grant: &Grant) -> Result<(), StoreError> {
    let mut pauses = Pauses::default();
    let mut rises: Option<Rises> = None;
    while !grant.hand_over.is_cancelled() {
        grant.moved();
        let pause = match worker.look(&mut rises, grant).await {
            Ok(()) => {
                pauses.reset();
                worker.every
            }
            Err(error) => {
                pauses.log_once(|| {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "a look for new dead letters failed and is repeated"
                    );
                });
                pauses.next()
            }
        };
        tokio::select! { biased;
            () = grant.hand_over.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
    Ok(())
}

impl<S: Store> AlertWorker<S> {
    async fn look(&self, rises: &mut Option<Rises>, grant: &Grant) -> Result<(), StoreError> {
        let rises = match rises {
            Some(rises) => rises,
            None => rises.insert(Rises::after(&self.seen_before().await?)),
        };
        let filter = DeadLetterFilter { after: rises.seen, ..DeadLetterFilter::default() };
        let groups = self.store.count_dead_letters(&filter).await?;
        for growth in rises.begun_in(&groups) {
            tracing::error!(
                stage = growth.stage.as_str(),
                new = growth.new,
                "dead letters have come; `outbox dead-letters list` shows them"
            );
            if !self.tell(&growth, grant).await {
                // What was not told is for the successor.
                return Ok(());
            }
        }
        rises.note(&groups);
        Ok(())
    }

    /// What whoever looked before must have seen.
    async fn seen_before(&self) -> Result<Vec<DeadLetterCount>, StoreError> {
        let until = Some(OffsetDateTime::now_utc() - LOOK_BACK);
        self.store.count_dead_letters(&DeadLetterFilter { until, ..DeadLetterFilter::default() }).await
    }

    /// Calls the hook until it succeeds; `false` when the grant ended before.
    async fn tell(&self, growth: &Growth, grant: &Grant) -> bool {
        let mut pauses = Pauses::default();
        loop {
            grant.moved();
            let error = match tokio::time::timeout(CALL_MAX, (self.hook.0)(growth.clone())).await {
                Ok(Ok(())) => return true,
                Ok(Err(error)) => error,
                Err(elapsed) => elapsed.into(),
            };
            pauses.log_once(|| {
                tracing::warn!(error = &*error as &dyn Error, "an alert did not get through and is repeated");
            });
            tokio::select! { biased;
                () = grant.hand_over.cancelled() => return false,
                () = tokio::time::sleep(pauses.next()) => {}
            }
        }
    }
}

/// Which stages are rising, as of the last look.
#[derive(Debug, Default)]
struct Rises {
    /// The newest dead letter that was looked at.
    seen: Option<i64>,
    rising: BTreeSet<Stage>,
}

impl Rises {
    fn after(seen: &[DeadLetterCount]) -> Self {
        Self { seen: newest(seen), rising: BTreeSet::new() }
    }

    /// The stages that have new dead letters and had none at the look before.
    fn begun_in(&self, groups: &[DeadLetterCount]) -> Vec<Growth> {
        let mut begun: BTreeMap<Stage, Vec<DeadLetterCount>> = BTreeMap::new();
        for group in groups.iter().filter(|group| !self.rising.contains(&group.stage)) {
            begun.entry(group.stage.clone()).or_default().push(group.clone());
        }
        let growth = |(stage, groups): (Stage, Vec<DeadLetterCount>)| {
            let new = groups.iter().map(|group| group.count).sum();
            Growth { stage, new, groups }
        };
        begun.into_iter().map(growth).collect()
    }

    fn note(&mut self, groups: &[DeadLetterCount]) {
        self.rising = groups.iter().map(|group| group.stage.clone()).collect();
        self.seen = newest(groups).or(self.seen);
    }
}

fn newest(groups: &[DeadLetterCount]) -> Option<i64> {
    groups.iter().map(|group| group.newest).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(stage: &str, reason: &str, count: u64, newest: i64) -> DeadLetterCount {
        let names = ("orders.placed".to_owned(), 1);
        DeadLetterCount::from_row(Stage::consumer(stage), names, reason.to_owned(), [count, 0, 0, 0], newest)
    }

    /// What is told at a look that finds these.
    fn look(rises: &mut Rises, groups: &[DeadLetterCount]) -> Vec<(String, u64)> {
        let begun = rises.begun_in(groups);
        rises.note(groups);
        begun.into_iter().map(|growth| (growth.stage.to_string(), growth.new)).collect()
    }

    #[test]
    fn a_rise_is_told_once_and_again_after_a_calm() {
        let mut rises = Rises::after(&[group("a", "refused", 7, 7)]);
        assert_eq!(rises.seen, Some(7));
        assert_eq!(look(&mut rises, &[]), []);
        let first = [group("a", "refused", 2, 9), group("a", "undecodable", 3, 12)];
        assert_eq!(look(&mut rises, &first), [("consumer/a".to_owned(), 5)]);
        assert_eq!(look(&mut rises, &[group("a", "refused", 90, 102)]), [], "it is the same rise");
        assert_eq!(look(&mut rises, &[]), []);
        assert_eq!(rises.seen, Some(102));
        assert_eq!(look(&mut rises, &[group("a", "refused", 1, 103)]), [("consumer/a".to_owned(), 1)]);
    }

    #[test]
    fn each_stage_rises_by_itself() {
        let mut rises = Rises::default();
        assert_eq!(look(&mut rises, &[group("a", "refused", 1, 1)]), [("consumer/a".to_owned(), 1)]);
        let both = [group("a", "refused", 1, 2), group("b", "refused", 4, 6)];
        assert_eq!(look(&mut rises, &both), [("consumer/b".to_owned(), 4)]);
    }
}
