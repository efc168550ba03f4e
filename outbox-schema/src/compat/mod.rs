//! Decides whether one contract may take the place of another, and says what breaks if not.

pub(crate) mod alias;
mod behaviour;
mod canonical;
mod close;
mod complete;
mod diff;
mod effort;
mod finding;
mod formats;
mod gate;
mod generate;
mod loosen;
mod normalise;
mod open;
mod policy;
mod prove;
mod real;
mod reserved;
mod shrink;
mod verdict;
mod witness;
mod wording;

pub(crate) use behaviour::{Behaviour, Sample, payloads_of};
pub use close::close_writer;
pub(crate) use complete::complete;
pub use complete::contract_of;
pub(crate) use diff::variant_name;
pub(crate) use finding::page;
pub use finding::{Evidence, Finding, FindingId, Location, Severity};
pub use formats::Formats;
pub use gate::{check, reader_of};
pub(crate) use generate::example;
pub(crate) use policy::version_removed;
pub(crate) use reserved::reserved;
pub use verdict::{Verdict, Witness, compare};
pub(crate) use wording::sentences;
