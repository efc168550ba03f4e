//! The draft of JSON Schema a document is written in, and the keywords that decide anything in it.

use serde_json::{Map, Value};

/// A draft, as far as drafts differ in what they decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dialect {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    /// Draft 2020-12, and every document that does not say: keywords of older drafts are understood as well.
    Newest,
}

/// Keywords that decide, with the first draft that knows them.
const KEYWORDS: &[(&str, Dialect)] = &[
    ("$dynamicRef", Dialect::Newest),
    ("$recursiveRef", Dialect::Draft2019),
    ("$ref", Dialect::Draft4),
    ("additionalItems", Dialect::Draft4),
    ("additionalProperties", Dialect::Draft4),
    ("allOf", Dialect::Draft4),
    ("anyOf", Dialect::Draft4),
    ("const", Dialect::Draft6),
    ("contains", Dialect::Draft6),
    ("dependencies", Dialect::Draft4),
    ("dependentRequired", Dialect::Draft2019),
    ("dependentSchemas", Dialect::Draft2019),
    ("else", Dialect::Draft7),
    ("enum", Dialect::Draft4),
    ("exclusiveMaximum", Dialect::Draft4),
    ("exclusiveMinimum", Dialect::Draft4),
    ("format", Dialect::Draft4),
    ("if", Dialect::Draft7),
    ("items", Dialect::Draft4),
    ("maxContains", Dialect::Draft2019),
    ("maxItems", Dialect::Draft4),
    ("maxLength", Dialect::Draft4),
    ("maxProperties", Dialect::Draft4),
    ("maximum", Dialect::Draft4),
    ("minContains", Dialect::Draft2019),
    ("minItems", Dialect::Draft4),
    ("minLength", Dialect::Draft4),
    ("minProperties", Dialect::Draft4),
    ("minimum", Dialect::Draft4),
    ("multipleOf", Dialect::Draft4),
    ("not", Dialect::Draft4),
    ("oneOf", Dialect::Draft4),
    ("pattern", Dialect::Draft4),
    ("patternProperties", Dialect::Draft4),
    ("prefixItems", Dialect::Newest),
    ("properties", Dialect::Draft4),
    ("propertyNames", Dialect::Draft6),
    ("required", Dialect::Draft4),
    ("then", Dialect::Draft7),
    ("type", Dialect::Draft4),
    ("unevaluatedItems", Dialect::Draft2019),
    ("unevaluatedProperties", Dialect::Draft2019),
    ("uniqueItems", Dialect::Draft4),
];

impl Dialect {
    /// The draft that `$schema` at the root names.
    pub(super) fn of(schema: &Value) -> Self {
        let declared = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let drafts = [
            ("draft-03", Self::Draft4),
            ("draft-04", Self::Draft4),
            ("draft-06", Self::Draft6),
            ("draft-07", Self::Draft7),
            ("2019-09", Self::Draft2019),
        ];
        drafts.into_iter().find(|(name, _)| declared.contains(name)).map_or(Self::Newest, |(_, draft)| draft)
    }

    /// Whether the keyword may decide whether a value is valid.
    pub(super) fn decides(self, keyword: &str) -> bool {
        KEYWORDS.iter().any(|&(known, since)| known == keyword && since <= self)
    }

    /// Until draft 7, whatever stands beside `$ref` is ignored.
    pub(super) fn has_lone_references(self) -> bool {
        self <= Self::Draft7
    }

    /// Until draft 2019-09, `contains` does not count as evaluating the items it finds.
    pub(super) fn contains_evaluates(self) -> bool {
        self == Self::Newest
    }

    /// The identity that a schema gives itself, and the anchor in it; both at most once.
    pub(super) fn identity(self, keywords: &Map<String, Value>) -> (Option<&str>, Option<&str>) {
        if self.has_lone_references() && keywords.contains_key("$ref") {
            return (None, None);
        }
        let name = if self == Self::Draft4 { "id" } else { "$id" };
        let identity = keywords.get(name).and_then(Value::as_str).unwrap_or_default();
        let (address, anchor) = identity.split_once('#').unwrap_or((identity, ""));
        let own = keywords.get("$anchor").or_else(|| keywords.get("$dynamicAnchor")).and_then(Value::as_str);
        let anchor = if self.has_lone_references() { Some(anchor) } else { own };
        (Some(address).filter(|text| !text.is_empty()), anchor.filter(|text| !text.is_empty()))
    }
}
