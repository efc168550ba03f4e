//! What became of the pairs, and the table of it.

use super::attack::{Proof, Question};
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// Doubtful proofs that are printed.
const SHOWN_MAX: usize = 12;

/// What became of the pairs.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) undecided: usize,
    pub(super) by_question: BTreeMap<Question, Counts>,
    /// Pairs that pass and break, each with the payload.
    pub(super) false_passes: Vec<String>,
    /// Breaks whose payload does not fail as it should, with how often they came up.
    pub(super) doubtful: BTreeMap<(Proof, String), usize>,
}

#[derive(Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) holds: usize,
    /// Answers that are wrong for a rule that no schema shows.
    pub(super) hidden: usize,
    pub(super) open: usize,
    pub(super) breaks: usize,
    /// Breaks whose payload one side takes and the other refuses.
    pub(super) confirmed: usize,
    /// Others, in whose place the gate shows one that does once it has the type at hand, or says that it found none.
    pub(super) mended: usize,
    /// Breaks that were attacked as if they passed, and how many of them the attack found.
    pub(super) attacked: usize,
    pub(super) found: usize,
}

impl Tally {
    pub(super) fn join(mut self, other: Self) -> Self {
        self.passed += other.passed;
        self.failed += other.failed;
        self.undecided += other.undecided;
        for (question, counts) in other.by_question {
            let own = self.by_question.entry(question).or_default();
            own.holds += counts.holds;
            own.hidden += counts.hidden;
            own.open += counts.open;
            own.breaks += counts.breaks;
            own.confirmed += counts.confirmed;
            own.mended += counts.mended;
            own.attacked += counts.attacked;
            own.found += counts.found;
        }
        self.false_passes.extend(other.false_passes);
        for (case, count) in other.doubtful {
            *self.doubtful.entry(case).or_default() += count;
        }
        self
    }

    /// All questions together.
    pub(super) fn total(&self, of: impl Fn(&Counts) -> usize) -> usize {
        self.by_question.values().map(of).sum()
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} pass, {} fail, {} undecided", self.passed, self.failed, self.undecided)?;
        let head =
            ["question", "holds", "hidden", "open", "breaks", "confirmed", "mended", "attacked", "found"];
        head.iter().try_for_each(|word| write!(f, "{word:>10}"))?;
        for (question, counts) in &self.by_question {
            let Counts { holds, hidden, open, breaks, confirmed, mended, attacked, found } = counts;
            write!(f, "\n{:>10}", format!("{question:?}"))?;
            [holds, hidden, open, breaks, confirmed, mended, attacked, found]
                .iter()
                .try_for_each(|count| write!(f, "{count:>10}"))?;
        }
        for ((proof, case), count) in self.doubtful.iter().take(SHOWN_MAX) {
            write!(f, "\n{count:>4} {proof:?}: {case}")?;
        }
        Ok(())
    }
}
