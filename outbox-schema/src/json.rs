//! Reads JSON as people keep it in files: without a byte-order mark, and no member of an object twice.

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// The value of `text`; an error names line and column.
///
/// Of two members with one name, serde_json silently takes the last.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    NoMemberTwice.deserialize(&mut deserializer)?;
    deserializer.end()?;
    serde_json::from_str(text)
}

struct NoMemberTwice;

impl<'de> DeserializeSeed<'de> for NoMemberTwice {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NoMemberTwice {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if seen.contains(&name) {
                return Err(A::Error::custom(format!("the member `{name}` stands twice in one object")));
            }
            members.next_value_seed(NoMemberTwice)?;
            seen.insert(name);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(NoMemberTwice)?.is_some() {}
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_value_is_read_as_serde_json_reads_it() {
        let value =
            json!({ "a": [null, true, -1, 18_446_744_073_709_551_615_u64, 1.5, "x"], "b": { "a": {} } });
        assert_eq!(parse(&value.to_string()).unwrap(), value);
        assert_eq!(parse("\u{feff}{\r\n}\r\n").unwrap(), json!({}));
    }

    #[test]
    fn a_member_that_stands_twice_is_an_error_with_its_line() {
        for text in ["{\"a\": 1,\n \"a\": 1}", "[{\"b\": {\"a\": 1,\n\"\\u0061\": 2}}]"] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains("`a` stands twice"), "{error}");
            assert_eq!(error.line(), 2, "{error}");
        }
    }

    #[test]
    fn what_follows_the_value_is_an_error() {
        assert!(parse("{} {}").is_err() && parse("").is_err());
    }
}
