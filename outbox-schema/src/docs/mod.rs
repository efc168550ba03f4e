//! Documents made from the catalog.

mod fields;
pub(crate) mod markdown;
mod versions;
