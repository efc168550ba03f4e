//! The gate against serde: whatever it lets pass is attacked with payloads, in pairs of random types.
//!
//! `OUTBOX_PAIRS` says how many pairs, and `OUTBOX_SEED` which; a failure prints the seed.

mod attack;
mod shapes;
mod tally;

use attack::{Broken, Proof, Question, attack, prove};
use outbox::compat::{Evidence, Finding, Verdict, check};
use shapes::{Dice, Program};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tally::{Counts, Tally};

/// Pairs of types, unless `OUTBOX_PAIRS` says otherwise.
const PAIRS: u64 = 10_000;
/// One break in so many is attacked as if it had passed, to see that the attack would find it; and one pass in so many is
/// put before the gate as a whole.
const TRIALS: usize = 8;

#[test]
fn what_the_gate_lets_pass_is_read_by_serde() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seed = number("OUTBOX_SEED").unwrap_or_else(rand::random);
    let pairs = number("OUTBOX_PAIRS").unwrap_or(PAIRS);
    println!("OUTBOX_SEED={seed} OUTBOX_PAIRS={pairs}");
    let gate = Gate::new();
    let workers = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let tally = std::thread::scope(|scope| {
        let work = |worker: u64| {
            let gate = &gate;
            move || {
                let mut tally = Tally::default();
                let own = (0..pairs).filter(|pair| pair % workers == worker);
                own.for_each(|pair| gate.judge(seed.wrapping_add(pair), &mut tally));
                tally
            }
        };
        let threads: Vec<_> = (0..workers).map(|worker| scope.spawn(work(worker))).collect();
        let tallies = threads.into_iter().map(|thread| thread.join().unwrap());
        tallies.reduce(Tally::join).unwrap()
    });
    println!("{} types: {tally}", gate.programs.len());
    assert!(tally.false_passes.is_empty(), "OUTBOX_SEED={seed}\n{}", tally.false_passes.join("\n"));
    if pairs >= PAIRS {
        let (attacked, found) = (tally.total(|counts| counts.attacked), tally.total(|counts| counts.found));
        assert!(
            found * 10 > attacked * 9,
            "OUTBOX_SEED={seed}: the attack finds {found} of {attacked} breaks"
        );
        for (question, counts) in &tally.by_question {
            let Counts { breaks, confirmed, mended, .. } = *counts;
            let shown = (confirmed + mended) * 1_000;
            // The released type is not at hand: what it reads beyond its contract can't be known.
            let is_enough =
                if *question == Question::Forward { shown > breaks * 985 } else { shown == breaks * 1_000 };
            assert!(
                is_enough,
                "OUTBOX_SEED={seed}: {question:?}: {confirmed} and {mended} of {breaks} breaks are real"
            );
        }
        assert!(tally.passed * 10 > tally.failed, "OUTBOX_SEED={seed}: hardly any pair passes");
        assert_eq!(tally.undecided, 0, "OUTBOX_SEED={seed}");
    }
}

/// Breaks of every kind, each with the question whose answer would be wrong if it passed.
const BREAKS: &[(&str, &str, Question)] = &[
    ("Plain<u8>", "MoreRequired<u8>", Question::Backward),
    ("MoreRequired<u8>", "Plain<u8>", Question::Forward),
    ("Plain<u8>", "Plain<String>", Question::Backward),
    ("Plain<u8>", "Renamed<u8>", Question::Backward),
    ("Plain<u8>", "Optional<u8>", Question::Forward),
    ("Alone<u32>", "Alone<u16>", Question::Backward),
    ("Alone<u64>", "Alone<i64>", Question::Backward),
    ("Alone<f64>", "Alone<i64>", Question::Backward),
    ("Alone<Color>", "Alone<Colors>", Question::Forward),
    ("Alone<(u8, u8)>", "Alone<(u8, u8, u8)>", Question::Backward),
    ("Alone<BTreeMap<String, u8>>", "Alone<BTreeMap<u8, u8>>", Question::Backward),
    ("MoreOptional<u8>", "Denying<u8>", Question::Backward),
    ("External<u8>", "Internal<u8>", Question::Backward),
    ("Internal<u8>", "InternalOtherTag<u8>", Question::Backward),
    ("Adjacent<u8>", "AdjacentMore<u8>", Question::Forward),
    ("Untagged<u8>", "UntaggedMore<u8>", Question::Forward),
    ("Skipped<u8>", "Plain<u8>", Question::Backward),
    ("DefaultAll<u8>", "Default<u8>", Question::Reader),
];

#[test]
fn a_gate_that_lets_everything_pass_is_found_out() {
    let gate = Gate::new();
    let program = |name: &str| {
        let is_called = |program: &&Program| format!("{}<{}>", program.form, program.inner) == name;
        gate.programs.iter().find(is_called).unwrap_or_else(|| panic!("no program is called {name}"))
    };
    let missed: Vec<_> = BREAKS
        .iter()
        .filter(|(old, new, question)| {
            let found = |seed| attack(program(old), program(new), *question, &mut Dice::new(seed));
            (0..50).find_map(found).is_none()
        })
        .collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// What is said of one pair.
struct Answers {
    verdicts: Vec<(Question, Arc<Verdict>)>,
    /// Everything holds.
    passes: bool,
    /// Nothing breaks, and not all is proven.
    is_open: bool,
}

impl Answers {
    fn about(gate: &Gate, old: usize, new: usize) -> Self {
        let mut verdicts: Vec<(Question, Arc<Verdict>)> = Vec::new();
        for question in Question::ALL {
            // What the old reader takes holds all that the old writer writes.
            let is_implied = question == Question::Reader
                && verdicts.iter().any(|(known, verdict)| *known == Question::Backward && is_break(verdict));
            if !is_implied {
                verdicts.push((question, gate.verdict(question, old, new)));
            }
        }
        let passes = verdicts.iter().all(|(_, verdict)| **verdict == Verdict::Holds);
        let some_break = verdicts.iter().any(|(_, verdict)| is_break(verdict));
        Self { verdicts, passes, is_open: !passes && !some_break }
    }
}

fn is_break(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Breaks(_))
}

/// Whether each payload that a person is shown, with today's type at hand, fails as it should, or says that it does not.
/// What the released type makes of it nobody can know then.
fn is_shown_as_it_is(old: &Program, new: &Program, question: Question) -> bool {
    let findings = check(&old.contract, &new.contract, Some(new.event));
    let mut about = findings.iter().filter(|finding| finding.id == question.finding()).peekable();
    let is_true = |finding: &Finding| match &finding.evidence {
        Evidence::Refused(witness) if witness.error.contains("the type itself") => true,
        Evidence::Refused(witness) => match prove(old, new, question, &witness.payload) {
            Proof::Confirmed => true,
            Proof::Unreal => question != Question::Forward,
            _ => false,
        },
        _ => true,
    };
    about.peek().is_some() && about.all(is_true)
}

/// The programs, and what the engine said of pairs of them: whether what the first reads, or only what it writes, is read
/// by the second.
struct Gate {
    programs: Vec<Program>,
    known: Mutex<HashMap<(bool, usize, usize), Arc<Verdict>>>,
}

impl Gate {
    fn new() -> Self {
        Self { programs: Program::all(), known: Mutex::default() }
    }

    fn judge(&self, seed: u64, tally: &mut Tally) {
        let mut dice = Dice::new(seed);
        let (old, new) = self.pair(&mut dice);
        let answers = Answers::about(self, old, new);
        let (old, new) = (&self.programs[old], &self.programs[new]);
        match answers {
            Answers { passes: true, .. } => {
                tally.passed += 1;
                // The gate asks the same questions once more, which takes long.
                if dice.below(TRIALS) == 0 {
                    let asked =
                        |finding: &Finding| Question::ALL.map(Question::finding).contains(&finding.id);
                    let findings = check(&old.contract, &new.contract, Some(new.event));
                    assert!(!findings.iter().any(asked), "OUTBOX_SEED={seed}: {findings:?}");
                }
            }
            Answers { is_open: true, .. } => tally.undecided += 1,
            _ => tally.failed += 1,
        }
        let name = format!("{}<{}> to {}<{}>", old.form, old.inner, new.form, new.inner);
        for (question, verdict) in &answers.verdicts {
            let question = *question;
            let counts = tally.by_question.entry(question).or_default();
            match &**verdict {
                Verdict::NotProven(_) => counts.open += 1,
                Verdict::Holds => {
                    counts.holds += 1;
                    let reader = if question == Question::Forward { old } else { new };
                    match attack(old, new, question, &mut dice) {
                        Some(_) if reader.has_hidden_rules() => counts.hidden += 1,
                        Some(Broken { payload, error }) => {
                            let case = format!("seed {seed}: {question:?} {name}: {payload}: {error}");
                            tally.false_passes.push(case);
                        }
                        None => {}
                    }
                }
                Verdict::Breaks(witness) => {
                    counts.breaks += 1;
                    // A payload that nobody may write is a rare find.
                    if question != Question::Reader && dice.below(TRIALS) == 0 {
                        counts.attacked += 1;
                        counts.found += usize::from(attack(old, new, question, &mut dice).is_some());
                    }
                    match prove(old, new, question, &witness.payload) {
                        Proof::Confirmed => counts.confirmed += 1,
                        _ if is_shown_as_it_is(old, new, question) => counts.mended += 1,
                        proof => {
                            let case = format!("{question:?} {name}: {}", witness.payload);
                            *tally.doubtful.entry((proof, case)).or_default() += 1;
                        }
                    }
                }
            }
        }
    }

    /// The answer to the question about a pair. What is written by one and read by the other is asked in both directions.
    fn verdict(&self, question: Question, old: usize, new: usize) -> Arc<Verdict> {
        let asked = match question {
            Question::Backward => (false, old, new),
            Question::Forward => (false, new, old),
            Question::Reader => (true, old, new),
        };
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = known().get(&asked) {
            return Arc::clone(verdict);
        }
        let verdict = Arc::new(question.ask(&self.programs[old], &self.programs[new]));
        known().insert(asked, Arc::clone(&verdict));
        verdict
    }

    /// Two programs, most often with the same form or the same inner type.
    fn pair(&self, dice: &mut Dice) -> (usize, usize) {
        let old = dice.below(self.programs.len());
        let way = dice.below(10);
        let is_kin = |new: &usize| {
            let (old, new) = (&self.programs[old], &self.programs[*new]);
            match way {
                0 => true,
                1..5 => old.form == new.form,
                _ => old.inner == new.inner,
            }
        };
        let kin: Vec<usize> = (0..self.programs.len()).filter(is_kin).collect();
        (old, dice.one_of(&kin))
    }
}
