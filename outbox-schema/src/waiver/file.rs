//! Reads `waivers.toml`. Nothing in it is passed over: a misspelt key would be a waiver that holds for ever.

use super::{Waiver, day, fingerprint};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use toml::{Spanned, Value};

/// Its name in the folder of schemas.
pub(crate) const FILE: &str = "waivers.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    waiver: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    fingerprint: Spanned<String>,
    #[serde(default)]
    reason: String,
    owner: Spanned<String>,
    /// A day of TOML, or a text.
    expires: Spanned<Value>,
}

/// The waivers in the folder of schemas; none if there is no file.
pub(crate) fn read(schemas: &Path) -> Result<Vec<Waiver>, String> {
    let path = schemas.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&text).map_err(|(line, fault)| format!("{}:{line}: {fault}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("can't read {}: {error}", path.display())),
    }
}

/// The waivers in `text`, or the first fault with its line.
pub(super) fn parse(text: &str) -> Result<Vec<Waiver>, (u32, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: File = toml::from_str(text).map_err(|error| {
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        (line_of(text, error.span()), message)
    })?;
    let mut seen = BTreeSet::new();
    let waivers = file.waiver.into_iter().map(|entry| {
        let at = line_of(text, Some(entry.span()));
        let waiver = waiver(text, at, entry.into_inner())?;
        match seen.insert(waiver.fingerprint.clone()) {
            true => Ok(waiver),
            false => Err((at, format!("`{}` is waived twice; delete one of them", waiver.fingerprint))),
        }
    });
    waivers.collect()
}

fn waiver(text: &str, line: u32, entry: Entry) -> Result<Waiver, (u32, String)> {
    let at = |span: Range<usize>| line_of(text, Some(span));
    let named = entry.fingerprint.get_ref();
    if fingerprint::event_of(named).is_none() {
        let fault = format!("`{named}` is no fingerprint; take the block that `schema-check` prints");
        return Err((at(entry.fingerprint.span()), fault));
    }
    if entry.owner.get_ref().trim().is_empty() {
        return Err((at(entry.owner.span()), "`owner` is empty; name who answers for it".to_owned()));
    }
    let expires = match entry.expires.get_ref() {
        Value::Datetime(moment) => day(&moment.to_string()),
        Value::String(text) => day(text),
        _ => Err("`expires` is no day such as 2027-01-31".to_owned()),
    };
    let expires = expires.map_err(|fault| (at(entry.expires.span()), fault))?;
    Ok(Waiver {
        fingerprint: entry.fingerprint.into_inner(),
        reason: entry.reason.trim().to_owned(),
        owner: entry.owner.into_inner().trim().to_owned(),
        expires,
        line,
    })
}

/// The line of a part of the text, from 1.
fn line_of(text: &str, span: Option<Range<usize>>) -> u32 {
    let start = span.map_or(0, |span| span.start.min(text.len()));
    let breaks = text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(breaks + 1).unwrap_or(u32::MAX)
}
