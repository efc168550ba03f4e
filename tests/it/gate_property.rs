//! The gate against serde: whatever it lets pass is attacked with payloads, in pairs of random types.
//!
//! `OUTBOX_PAIRS` says how many pairs, and `OUTBOX_SEED` which; a failure prints the seed.

mod attack;
mod shapes;
mod tally;

use attack::{Broken, Proof, Question, attack, prove};
use outbox::compat::{Finding, Severity, Verdict, check};
use shapes::{Dice, Program};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tally::Tally;

/// Pairs of types, unless `OUTBOX_PAIRS` says otherwise.
const PAIRS: u64 = 10_000;
/// One break in so many is attacked as if it had passed, to see that the attack would find it.
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
        let (breaks, confirmed) =
            (tally.total(|counts| counts.breaks), tally.total(|counts| counts.confirmed));
        assert!(confirmed * 100 > breaks * 97, "OUTBOX_SEED={seed}: {confirmed} of {breaks} breaks are real");
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
    verdicts: Vec<(Question, Verdict)>,
    /// The gate as a whole, with its policy, lets it pass.
    passes: bool,
    /// Nothing breaks, and not all is proven.
    is_open: bool,
}

impl Answers {
    fn about(old: &Program, new: &Program) -> Self {
        let mut verdicts = Vec::new();
        for question in Question::ALL {
            // What the old reader takes holds all that the old writer writes.
            let is_implied = question == Question::Reader
                && verdicts.iter().any(|known| matches!(known, (Question::Backward, Verdict::Breaks(_))));
            if !is_implied {
                verdicts.push((question, question.ask(old, new)));
            }
        }
        let all_hold = verdicts.iter().all(|(_, verdict)| *verdict == Verdict::Holds);
        let some_break = verdicts.iter().any(|(_, verdict)| matches!(verdict, Verdict::Breaks(_)));
        // Where something breaks, the gate goes on to look for all the places, which takes long.
        let is_harmless = |finding: Finding| finding.id.severity() == Severity::Warning;
        let passes = all_hold && check(&old.contract, &new.contract, None).into_iter().all(is_harmless);
        Self { verdicts, passes, is_open: !all_hold && !some_break }
    }
}

/// The programs, and what the gate said of pairs of them.
struct Gate {
    programs: Vec<Program>,
    known: Mutex<HashMap<(usize, usize), Arc<Answers>>>,
}

impl Gate {
    fn new() -> Self {
        Self { programs: Program::all(), known: Mutex::default() }
    }

    fn judge(&self, seed: u64, tally: &mut Tally) {
        let mut dice = Dice::new(seed);
        let (old, new) = self.pair(&mut dice);
        let answers = self.answers(old, new);
        let (old, new) = (&self.programs[old], &self.programs[new]);
        match *answers {
            Answers { passes: true, .. } => tally.passed += 1,
            Answers { is_open: true, .. } => tally.undecided += 1,
            _ => tally.failed += 1,
        }
        let name = format!("{}<{}> to {}<{}>", old.form, old.inner, new.form, new.inner);
        for (question, verdict) in &answers.verdicts {
            let question = *question;
            let counts = tally.by_question.entry(question).or_default();
            match verdict {
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
                        proof => {
                            let case = format!("{question:?} {name}: {}", witness.payload);
                            *tally.doubtful.entry((proof, case)).or_default() += 1;
                        }
                    }
                }
            }
        }
    }

    /// What is answered to the questions about a pair; the same each time.
    fn answers(&self, old: usize, new: usize) -> Arc<Answers> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answers) = known().get(&(old, new)) {
            return Arc::clone(answers);
        }
        let answers = Arc::new(Answers::about(&self.programs[old], &self.programs[new]));
        known().insert((old, new), Arc::clone(&answers));
        answers
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
