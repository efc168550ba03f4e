//! The formats that schemars gives to Rust types, where they decide which strings a reader takes.

use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashMap;

/// Whether `format` decides what is valid, or only describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formats {
    /// A string that is not of the format is refused, as serde refuses it.
    Asserted,
    /// A format describes and refuses nothing, as JSON Schema has it by default.
    Described,
}

/// The bounds of Rust's integers, by the format schemars gives them.
///
/// Those of 128 bits stand for larger ones that the prover can't count with. They are beyond 64 bits and in the right
/// order, so that each type holds what it holds of the others.
const INTEGERS: &[(&str, i128, i128)] = &[
    ("int8", i8::MIN as i128, i8::MAX as i128),
    ("int16", i16::MIN as i128, i16::MAX as i128),
    ("int32", i32::MIN as i128, i32::MAX as i128),
    ("int64", i64::MIN as i128, i64::MAX as i128),
    ("int", i64::MIN as i128, i64::MAX as i128),
    ("uint8", 0, u8::MAX as i128),
    ("uint16", 0, u16::MAX as i128),
    ("uint32", 0, u32::MAX as i128),
    ("int128", -10_i128.pow(38), 10_i128.pow(38)),
    ("uint64", 0, u64::MAX as i128),
    ("uint128", 0, 12 * 10_i128.pow(37)),
    ("uint", 0, u64::MAX as i128),
];

/// The range of an integer format.
pub(super) fn integer_range(format: &str) -> Option<(i128, i128)> {
    INTEGERS.iter().find(|(name, ..)| *name == format).map(|&(_, low, high)| (low, high))
}

/// Whether the format speaks of numbers.
pub(super) fn is_numeric(format: &str) -> bool {
    integer_range(format).is_some() || matches!(format, "float" | "double")
}

/// Formats of common crates that JSON Schema does not know, each with the known one that it is with a `Z` behind.
const LOCAL_TIMES: &[(&str, &str)] = &[("partial-date-time", "date-time"), ("partial-time", "time")];

/// A validator's options with every format known here.
pub(super) fn options(formats: Formats) -> jsonschema::ValidationOptions<'static> {
    let options = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(formats == Formats::Asserted)
        .offline();
    LOCAL_TIMES.iter().fold(options, |options, &(name, _)| {
        options.with_format(name, move |text: &str| accepts(name, text).unwrap_or(true))
    })
}

thread_local! {
    static KNOWN: RefCell<HashMap<String, Option<jsonschema::Validator>>> = RefCell::default();
}

/// Whether `text` is of the format; `None` for a format nobody here knows.
pub(super) fn accepts(format: &str, text: &str) -> Option<bool> {
    if let Some((_, with_zone)) = LOCAL_TIMES.iter().find(|(name, _)| *name == format) {
        return accepts(with_zone, &format!("{text}Z"));
    }
    KNOWN.with_borrow_mut(|known| {
        let validator = known.entry(format.to_owned()).or_insert_with(|| {
            let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
            let is_known = options.is_known_format(jsonschema::Draft::Draft202012, format);
            let options = options.should_validate_formats(true).offline();
            is_known.then(|| options.build(&json!({ "format": format })).ok()).flatten()
        });
        validator.as_ref().map(|validator| validator.is_valid(&Value::from(text)))
    })
}

/// Strings of the format, for payloads and examples.
pub(super) fn samples(format: &str) -> &'static [&'static str] {
    match format {
        "date" => &["2024-05-17", "1970-01-01"],
        "date-time" => &["2024-05-17T09:30:00Z", "1970-01-01T00:00:00.5+02:00"],
        "partial-date-time" => &["2024-05-17T09:30:00", "1970-01-01T00:00:00.5"],
        "zoned-date-time" => &["2024-05-17T09:30:00+00:00[UTC]", "1970-01-01T00:00:00.5+00:00[UTC]"],
        "time" => &["09:30:00Z", "00:00:00+02:00"],
        "partial-time" => &["09:30:00", "00:00:00.5"],
        "duration" => &["PT1H30M", "P1D"],
        "uuid" => &["0190a6e4-7b1c-7000-8000-000000000001", "00000000-0000-0000-0000-000000000000"],
        "uri" | "iri" => &["https://example.com/a", "urn:a:b"],
        "uri-reference" | "iri-reference" => &["/a/b", "https://example.com/a"],
        "email" | "idn-email" => &["ada@example.com", "b@example.org"],
        "hostname" | "idn-hostname" => &["example.com", "a"],
        "ip" => &["192.0.2.1", "2001:db8::1"],
        "ipv4" => &["192.0.2.1", "10.0.0.1"],
        "ipv6" => &["2001:db8::1", "::1"],
        "regex" => &["^a$", "b"],
        "json-pointer" => &["/a/0", ""],
        _ => &[],
    }
}
