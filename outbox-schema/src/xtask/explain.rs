//! `schema-check --explain`: why a finding matters, with an example and the fix.

use super::files::say;
use crate::compat::{FindingId, page};

/// In place of an id: the page about all of them.
const ALL: &str = "all";

pub(super) fn run(id: Option<&str>) -> Result<bool, String> {
    match id {
        None => say(&page::list()),
        Some(ALL) => say(&page::page()),
        Some(name) => match FindingId::named(name) {
            Some(id) => say(&page::section(id)),
            None => return Err(unknown(name)),
        },
    }
    Ok(true)
}

fn unknown(name: &str) -> String {
    let meant = page::nearest(name).map(|id| format!("; did you mean `{}`?", id.as_str()));
    format!("no finding has the id `{name}`{}\n\n{}", meant.unwrap_or_default(), page::list().trim_end())
}
