//! The person on call, who looks through the dead letters and has them replayed or discarded.

use super::arena::Arena;
use super::event::name_and_plan;
use super::poison::FOREIGN;
use super::store::TortureStore;
use crate::history::Fate;
use outbox::{DeadLetter, DeadLetterFilter, StoreError, Terms};
use rand::RngExt;
use rand::rngs::StdRng;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// The most dead letters of one look.
const LOOK_MAX: u32 = 1_000;

/// What a person does with a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Leave,
    Replay,
    Discard,
}

/// Remembers which dead letters were seen, so that each is noted once.
#[derive(Debug, Default)]
pub(super) struct Person {
    seen: BTreeSet<i64>,
}

/// Looks now and then, and decides at random.
pub(super) async fn work<S: TortureStore>(arena: Arc<Arena<S>>, mut chance: StdRng) {
    while arena.rest(Duration::from_millis(chance.random_range(300..2_500))).await {
        let mut terms = Terms::new("torture", "somebody looks through them");
        if chance.random_ratio(1, 3) {
            terms = terms.per_second(NonZeroU32::new(chance.random_range(1..20)).expect("1 or more"));
        }
        let mut decide = |_: &DeadLetter| match chance.random_range(0..10) {
            0..3 => Decision::Replay,
            3..8 => Decision::Discard,
            _ => Decision::Leave,
        };
        // The database may be down.
        let _ = arena.person.lock().await.look(&arena, &terms, &mut decide).await;
    }
}

impl Person {
    /// Looks through all dead letters and does with each what is decided; gives how many there are.
    pub(super) async fn look<S: TortureStore>(
        &mut self,
        arena: &Arena<S>,
        terms: &Terms,
        decide: &mut (impl FnMut(&DeadLetter) -> Decision + Send),
    ) -> Result<u64, StoreError> {
        let dead = arena.outbox.dead_letters(&DeadLetterFilter::default(), LOOK_MAX).await?;
        for letter in &dead {
            if letter.replaying {
                continue;
            }
            self.note(arena, letter);
            let filter = DeadLetterFilter { ids: vec![letter.id], ..DeadLetterFilter::default() };
            match decide(letter) {
                Decision::Leave => {}
                Decision::Replay => {
                    note(arena, letter, Fate::Replayed);
                    let count = arena.outbox.replay(&filter, terms).await?;
                    arena.figures.add("replays asked for", count);
                }
                Decision::Discard => {
                    note(arena, letter, Fate::Discarded);
                    let count = arena.outbox.discard(&filter, terms).await?;
                    arena.figures.add("discards asked for", count);
                }
            }
        }
        Ok(dead.len() as u64)
    }

    fn note<S: TortureStore>(&mut self, arena: &Arena<S>, letter: &DeadLetter) {
        note(arena, letter, if letter.parks_key { Fate::Parked } else { Fate::Skipped });
        if !self.seen.insert(letter.id) {
            return;
        }
        let stage = letter.stage.as_str();
        let plan = name_and_plan(&letter.envelope.payload).map(|(_, plan)| plan);
        if letter.envelope.payload == FOREIGN {
            return arena
                .figures
                .add(&format!("dead letters of {stage}: {} by a stranger", letter.reason), 1);
        }
        let shown = plan.map_or_else(|| "nobody".to_owned(), |plan| format!("{plan:?}"));
        arena.figures.add(&format!("dead letters of {stage}: {} by {shown}", letter.reason), 1);
        if !plan.is_some_and(|plan| plan.may_end(stage, &letter.reason)) {
            let problem = format!(
                "{stage} has set {} aside by {} after {} attempts, which is no end of {shown}: {}",
                letter.envelope.id, letter.reason, letter.attempts, letter.error_chain
            );
            arena.problem(problem);
        }
    }
}

fn note<S: TortureStore>(arena: &Arena<S>, letter: &DeadLetter, fate: Fate) {
    if let Some((event, _)) = name_and_plan(&letter.envelope.payload) {
        arena.scene.record.happened(fate.of(letter.stage.as_str(), &event));
    }
}
