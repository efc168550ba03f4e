//! The names that a type asks for while it is read: the fields of a struct and the variants of an enum, aliases included.
//!
//! No schema has the aliases, but serde names them to the deserializer, which here takes note. It can't hand a note
//! through a buffer: what is flattened, untagged or inside of an internally tagged variant is read from serde's own
//! copy. There only a name that nobody knows brings names to light, as serde's errors list those it knows.

mod part;

use crate::Event;
use part::Part;
use serde_json::Value;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Names that a type asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// For what.
    pub about: About,
    /// All the names, each alias among them.
    pub names: &'static [&'static str],
}

/// What a type asked for names for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// The value at that JSON pointer.
    Place(String),
    /// This name, which it does not know, wherever it stands.
    Name(String),
}

thread_local! {
    /// Of the payload that is being read. An error is made without knowing of the deserializer, so it can't be given this.
    static ASKED: RefCell<Vec<Asked>> = const { RefCell::new(Vec::new()) };
}

fn note(about: About, names: &'static [&'static str]) {
    ASKED.with_borrow_mut(|asked| asked.push(Asked { about, names }));
}

/// What `E` asks for while it reads `payload`, whether it takes it or not.
pub(crate) fn asked<E: Event>(payload: &Value) -> Vec<Asked> {
    ASKED.take();
    // Types are tried out elsewhere too, and there a panic is told.
    let _ = catch_unwind(AssertUnwindSafe(|| E::deserialize(Part::whole(payload)).is_ok()));
    ASKED.take()
}

#[cfg(test)]
mod tests;
