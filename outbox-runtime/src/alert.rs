//! Tells people that dead letters have come: once for each rise, and not for each event.
//!
//! ```text
//!          new dead letters: the hook is called until it succeeds
//!   calm ─────────────────────────────────────────────────────────▶ rising
//!     ▲                                                               │ new ones: nothing more is told
//!     └───────────────────────────────────────────────────────────────┘ none at a look
//! ```
//! Of the processes that have a hook one looks, by a lease of its own. Who takes over counts what came in the last
//! minute or so as new: a rise may be told twice when the process changes, then under the same [`Growth::id`], and is not
//! left untold.
//!
//! Each hook looks by itself, so that one that fails makes no other be called twice or late.

use crate::{
    backoff::RetryPolicy,
    dead_letter::{DeadLetterCount, DeadLetterFilter},
    held::Stage,
    leadership::Grant,
    pause::Pauses,
    store::{Store, StoreError},
    telemetry,
};
use futures_util::future::{BoxFuture, join_all};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fmt,
    sync::Arc,
    time::Duration,
};
use time::OffsetDateTime;

/// How long ago a dead letter may have come that nobody who looks now has seen, beside the time that two looks and the
/// taking over may take.
const LOOK_BACK: Duration = Duration::from_secs(60);

/// How long one call of the hook may take.
pub(crate) const CALL_MAX: Duration = Duration::from_secs(30);

/// How far apart a hook is called that fails.
const RETRY: RetryPolicy =
    RetryPolicy { attempts: u32::MAX, base: Duration::from_secs(1), max: Duration::from_secs(60) };

/// After how many failed calls somebody must look at the hook.
const TRIES_TO_PASS: u32 = 5;

/// Dead letters of one relay or consumer have come. As JSON it is what `outbox relay --on-dead-letters` tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Growth {
    /// The name of this rise: the relay or consumer, and the number of the first dead letter that was new. Whenever a rise
    /// is told again, it is told under this name, so a receiver can drop what it knows.
    pub id: String,
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

    /// What is told of each rise without being asked for: a line of the log, and the metric.
    pub(crate) fn note() -> Self {
        Self::new(async |growth: Growth| {
            tracing::error!(
                stage = growth.stage.as_str(),
                new = growth.new,
                "dead letters have come; `outbox dead-letters list` shows them"
            );
            telemetry::count_rise(growth.stage.as_str());
            Ok(())
        })
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
    pub(crate) hooks: Vec<Hook>,
    /// The time between two looks.
    pub(crate) every: Duration,
}

/// Looks for each hook until the grant ends.
pub(crate) async fn run<S: Store>(worker: &AlertWorker<S>, grant: &Grant) {
    join_all(worker.hooks.iter().map(|hook| worker.run_for(hook, grant))).await;
}

impl<S: Store> AlertWorker<S> {
    async fn run_for(&self, hook: &Hook, grant: &Grant) {
        let mut pauses = Pauses::default();
        let mut rises: Option<Rises> = None;
        while !grant.hand_over.is_cancelled() {
            grant.moved();
            let pause = match self.look(hook, &mut rises, grant).await {
                Ok(()) => {
                    pauses.reset();
                    self.every
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
    }

    async fn look(&self, hook: &Hook, rises: &mut Option<Rises>, grant: &Grant) -> Result<(), StoreError> {
        let rises = match rises {
            Some(rises) => rises,
            None => rises.insert(Rises::after(&self.seen_before().await?)),
        };
        let filter = DeadLetterFilter { after: rises.seen, ..DeadLetterFilter::default() };
        let groups = self.store.count_dead_letters(&filter).await?;
        for growth in rises.begun_in(&groups) {
            if !tell(hook, &growth, grant).await {
                // What was not told is for the successor.
                return Ok(());
            }
        }
        rises.note(&groups);
        Ok(())
    }

    /// What whoever looked before must have seen.
    async fn seen_before(&self) -> Result<Vec<DeadLetterCount>, StoreError> {
        let until = Some(OffsetDateTime::now_utc() - LOOK_BACK - self.every * 3);
        self.store.count_dead_letters(&DeadLetterFilter { until, ..DeadLetterFilter::default() }).await
    }
}

/// Calls the hook until it succeeds; `false` when the grant ended before.
async fn tell(hook: &Hook, growth: &Growth, grant: &Grant) -> bool {
    let mut failures = 0;
    loop {
        grant.moved();
        let error = match tokio::time::timeout(CALL_MAX, (hook.0)(growth.clone())).await {
            Ok(Ok(())) => return true,
            Ok(Err(error)) => error,
            Err(elapsed) => elapsed.into(),
        };
        failures += 1;
        log_failure(failures, &*error);
        tokio::select! { biased;
            () = grant.hand_over.cancelled() => return false,
            () = tokio::time::sleep(RETRY.wait_after(failures)) => {}
        }
    }
}

fn log_failure(failures: u32, error: &(dyn Error + 'static)) {
    match failures {
        1 => tracing::warn!(error, "an alert did not get through and is repeated"),
        TRIES_TO_PASS => {
            tracing::error!(error, "an alert does not get through, so nobody is told of dead letters");
        }
        _ => {}
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
            let first = groups.iter().map(|group| group.oldest).min().unwrap_or_default();
            let new = groups.iter().map(|group| group.count).sum();
            Growth { id: format!("{stage}/{first}"), stage, new, groups }
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

    /// So many in a row, up to the newest.
    fn group(stage: &str, reason: &str, count: u64, newest: i64) -> DeadLetterCount {
        let names = ("orders.placed".to_owned(), 1);
        let numbers = (newest - i64::try_from(count).unwrap() + 1, newest);
        DeadLetterCount::from_row(Stage::consumer(stage), names, reason.to_owned(), [count, 0, 0, 0], numbers)
    }

    /// What is told at a look that finds these.
    fn look(rises: &mut Rises, groups: &[DeadLetterCount]) -> Vec<(String, u64)> {
        let begun = rises.begun_in(groups);
        rises.note(groups);
        begun.into_iter().map(|growth| (growth.id, growth.new)).collect()
    }

    #[test]
    fn a_rise_is_told_once_and_again_after_a_calm() {
        let mut rises = Rises::after(&[group("a", "refused", 7, 7)]);
        assert_eq!(rises.seen, Some(7));
        assert_eq!(look(&mut rises, &[]), []);
        let first = [group("a", "refused", 2, 9), group("a", "undecodable", 3, 12)];
        assert_eq!(look(&mut rises, &first), [("consumer/a/8".to_owned(), 5)]);
        assert_eq!(look(&mut rises, &[group("a", "refused", 90, 102)]), [], "it is the same rise");
        assert_eq!(look(&mut rises, &[]), []);
        assert_eq!(rises.seen, Some(102));
        assert_eq!(look(&mut rises, &[group("a", "refused", 1, 103)]), [("consumer/a/103".to_owned(), 1)]);
    }

    #[test]
    fn each_stage_rises_by_itself() {
        let mut rises = Rises::default();
        assert_eq!(look(&mut rises, &[group("a", "refused", 1, 1)]), [("consumer/a/1".to_owned(), 1)]);
        let both = [group("a", "refused", 1, 2), group("b", "refused", 4, 6)];
        assert_eq!(look(&mut rises, &both), [("consumer/b/3".to_owned(), 4)]);
    }
}
