//! Decides whether one schema may take the place of another.

mod canonical;
mod close;
mod formats;
mod normalise;
mod prove;
mod verdict;
mod witness;

pub use close::close_writer;
pub use formats::Formats;
pub use verdict::{Verdict, Witness, compare};
