//! The column `headers`, which any writer with the right to insert may have filled; it may also travel as it is.

use crate::envelope::Headers;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The headers in the text of the column. Values that are no text are read as their JSON.
pub(crate) fn read(text: &str) -> serde_json::Result<Headers> {
    let text_of =
        |value: &RawValue| serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned());
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    Ok(members.into_iter().map(|(name, value)| (name, text_of(value))).collect())
}
