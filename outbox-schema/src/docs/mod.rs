//! Documents made from the catalog.

pub(crate) mod markdown;
