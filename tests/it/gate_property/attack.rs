//! Tries to break a pair of types with payloads, through serde itself.

use super::shapes::{Dice, Program};
use outbox::compat::{FindingId, Formats, Verdict, close_writer, compare, reader_of};
use serde_json::Value;

/// Payloads tried in each direction.
const PAYLOADS: usize = 12;
/// Changes of one payload that are tried for one that the old reader takes.
const CHANGES_MAX: usize = 3;

/// The three questions of the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Question {
    Backward,
    Forward,
    Reader,
}

impl Question {
    pub(super) const ALL: [Self; 3] = [Self::Backward, Self::Forward, Self::Reader];

    /// The kind of finding that says "breaks".
    pub(super) fn finding(self) -> FindingId {
        match self {
            Self::Backward => FindingId::ReaderRefusesReleased,
            Self::Forward => FindingId::ReleasedReaderRefuses,
            Self::Reader => FindingId::ReaderNarrowed,
        }
    }

    /// What the engine answers.
    pub(super) fn ask(self, old: &Program, new: &Program) -> Verdict {
        let (old, new) = (&old.contract, &new.contract);
        let (writer, reader) = match self {
            Self::Backward => (&old.writes, new),
            Self::Forward => (&new.writes, old),
            Self::Reader => (&old.reads, new),
        };
        compare(&close_writer(writer), &reader_of(reader, writer), Formats::Asserted)
    }
}

/// A payload that proves that something breaks.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) payload: String,
    pub(super) error: String,
}

/// Looks for a payload for which the answer to `question` is "breaks".
pub(super) fn attack(old: &Program, new: &Program, question: Question, dice: &mut Dice) -> Option<Broken> {
    (0..PAYLOADS).find_map(|_| match question {
        Question::Backward => refused(new, old.write(dice)),
        Question::Forward => refused(old, new.write(dice)),
        Question::Reader => {
            let payload = taken(old, new, dice)?;
            refused(new, payload).filter(|broken| is_declared(old, &broken.payload))
        }
    })
}

fn refused(reader: &Program, payload: String) -> Option<Broken> {
    reader.read(&payload).err().map(|error| Broken { payload, error })
}

/// A payload that the old reader takes, though nobody may write it.
fn taken(old: &Program, new: &Program, dice: &mut Dice) -> Option<String> {
    let other: Value = serde_json::from_str(&new.write(dice)).unwrap();
    let mut payload: Value = serde_json::from_str(&old.write(dice)).unwrap();
    for _ in 0..=dice.below(CHANGES_MAX) {
        change(&mut payload, &other, dice);
    }
    let payload = payload.to_string();
    old.read(&payload).is_ok().then_some(payload)
}

/// Whether the contract says that the payload is read. serde reads more than any schema tells, such as a list in the
/// place of a struct; nobody is promised that.
fn is_declared(reader: &Program, payload: &str) -> bool {
    let mut payload: Value = serde_json::from_str(payload).unwrap();
    payload["eventType"] = Value::from(reader.event.event_type);
    payload["eventVersion"] = Value::from(reader.event.event_version);
    let only = serde_json::json!({ "const": payload });
    compare(&only, &close_writer(&reader.contract.reads), Formats::Asserted) == Verdict::Holds
}

/// Changes one part of a payload: drops it, or puts another value there, often one of another payload.
fn change(payload: &mut Value, other: &Value, dice: &mut Dice) {
    let mut spots = Vec::new();
    collect(payload, "", &mut spots);
    let mut strange = Vec::new();
    collect(other, "", &mut strange);
    if spots.is_empty() {
        return;
    }
    let spot = dice.one_of(&spots);
    if dice.below(3) == 0
        && let Some((parent, name)) = spot.rsplit_once('/')
        && let Some(Value::Object(members)) = payload.pointer_mut(parent)
    {
        members.remove(name);
        return;
    }
    let plain = [Value::Null, Value::from(0), Value::from(300), Value::from("text"), Value::from(false)];
    let value = match dice.below(2) {
        0 => dice.one_of(&plain),
        _ => other.pointer(&dice.one_of(&strange)).cloned().unwrap_or_default(),
    };
    if let Some(place) = payload.pointer_mut(&spot) {
        *place = value;
    }
}

/// The pointers of all parts.
fn collect(value: &Value, at: &str, spots: &mut Vec<String>) {
    let part = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| collect(member, &part(name), spots))
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| collect(item, &part(&index.to_string()), spots));
        }
        _ => {}
    }
    if !at.is_empty() {
        spots.push(at.to_owned());
    }
}

/// What serde does with a payload that the gate shows as a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proof {
    /// One side takes it and the other refuses it.
    Confirmed,
    /// It is read, and written again otherwise: a part is lost, or has another form or name.
    Otherwise,
    /// It is read as if nothing had changed.
    Read,
    /// The side that is said to write it does not even read it.
    Unreal,
}

/// Feeds the payload that the gate shows to both sides.
pub(super) fn prove(old: &Program, new: &Program, question: Question, payload: &Value) -> Proof {
    let mut own = payload.clone();
    if let Value::Object(members) = &mut own {
        members.retain(|name, _| name != "eventType" && name != "eventVersion");
    }
    let text = own.to_string();
    let (source, reader) = match question {
        Question::Backward | Question::Reader => (old, new),
        Question::Forward => (new, old),
    };
    let written = |program: &Program| {
        let written = program.read(&text).ok()?;
        Some(written.and_then(|written| serde_json::from_str::<Value>(&written).ok()))
    };
    match (written(source), written(reader)) {
        (None, _) => Proof::Unreal,
        (Some(_), None) => Proof::Confirmed,
        (Some(_), Some(again)) if again.as_ref().is_some_and(|again| holds(again, &own)) => Proof::Read,
        (Some(_), Some(_)) => Proof::Otherwise,
    }
}

/// Whether `whole` has everything that `part` has.
fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(name, inner)| whole.get(name).is_some_and(|whole| holds(whole, inner)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| holds(whole, part))
        }
        _ => whole == part,
    }
}
