//! The changes of a struct, in its own words.

use super::*;
use crate::compat::wording::sentence;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Two versions of one type, as the contracts of both would show them.
macro_rules! versions {
    ($old:item $new:item) => {{
        let old = {
            #[derive(Serialize, Deserialize, JsonSchema)]
            $old
            schema_for!(E).to_value()
        };
        let new = {
            #[derive(Serialize, Deserialize, JsonSchema)]
            $new
            schema_for!(E).to_value()
        };
        changes(&old, &new).iter().map(sentence).collect::<Vec<_>>()
    }};
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Line {
    sku: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct PricedLine {
    sku: String,
    price: u32,
}

#[test]
fn fields_come_and_go() {
    let found = versions!(
        struct E {
            a: i32,
            b: String,
        }
        struct E {
            a: i32,
            c: Option<String>,
            d: bool,
        }
    );
    assert_eq!(
        found,
        ["field `b` was removed", "field `c` was added", "field `d` was added and is required"]
    );
}

#[test]
fn a_field_changes_its_type_or_need() {
    let found = versions!(
        struct E {
            a: i32,
            b: Option<i64>,
            c: u32,
            d: String,
        }
        struct E {
            a: i64,
            b: i64,
            c: Vec<u32>,
            #[serde(default)]
            d: String,
        }
    );
    assert_eq!(
        found,
        [
            "`a` changed its format from int32 to int64",
            "field `b` is required now",
            "`b` can't be null any more",
            "`c` changed its type from integer (uint32) to array",
            "field `d` may be absent now",
        ]
    );
}

#[test]
fn lists_maps_and_options_are_followed() {
    let found = versions!(
        struct E {
            list: Vec<Line>,
            map: BTreeMap<String, Line>,
            option: Option<Line>,
        }
        struct E {
            list: Vec<PricedLine>,
            map: BTreeMap<String, PricedLine>,
            option: Option<PricedLine>,
        }
    );
    assert_eq!(
        found,
        [
            "field `list[].price` was added and is required",
            "field `map[].price` was added and is required",
            "field `option.price` was added and is required",
        ]
    );
}

#[test]
fn enum_values_and_variants_come_and_go() {
    let found = versions!(
        enum E {
            A,
            B,
            C { x: i32 },
        }
        enum E {
            A,
            C { x: i32, y: bool },
            D(u8),
        }
    );
    assert_eq!(
        found,
        [
            "the payload can now be `D`",
            "the payload can no longer be `B`",
            "field `C.y` was added and is required",
        ]
    );
}

#[test]
fn variants_that_are_told_apart_by_other_means_are_one_change() {
    let tagged = versions!(
        enum E {
            A { x: i32 },
            B { y: i32 },
        }
        #[serde(tag = "kind")]
        enum E {
            A { x: i32 },
            B { y: i32 },
        }
    );
    assert_eq!(
        tagged,
        [
            "the variants of the payload are told apart by the tag `kind`, which was by a field named after the variant"
        ]
    );
    let untagged = versions!(
        #[serde(tag = "kind")]
        enum E {
            A { x: i32 },
            B { y: i32 },
        }
        #[serde(untagged)]
        enum E {
            A { x: i32 },
            B { y: i32 },
        }
    );
    assert_eq!(
        untagged,
        ["the variants of the payload are told apart by no tag, which was by the tag `kind`"]
    );
}

#[test]
fn limits_are_a_change_of_their_own_only_where_the_type_stays() {
    let narrowed = versions!(
        struct E {
            a: u8,
            b: Option<u16>,
            c: (u8, u8),
        }
        struct E {
            a: std::num::NonZeroU8,
            b: String,
            c: (u8, u8, u8),
        }
    );
    assert_eq!(
        narrowed,
        [
            "`a` takes 1 to 255, which was 0 to 255",
            "field `b` is required now",
            "`b` changed its type from integer or null (uint16) to string",
            "`c` is limited to maxItems 3, minItems 3, which was maxItems 2, minItems 2",
        ]
    );
}

#[test]
fn a_type_that_contains_itself_ends() {
    let found = versions!(
        struct E {
            v: i32,
            next: Option<Box<E>>,
        }
        struct E {
            v: String,
            next: Option<Box<E>>,
        }
    );
    assert_eq!(found, ["`v` changed its type from integer (int32) to string"]);
}

#[test]
fn what_is_inside_of_another_type_is_no_change_of_its_own() {
    let found = versions!(
        struct E {
            a: Line,
            b: u8,
        }
        struct E {
            a: (String, u8),
            b: Line,
        }
    );
    assert_eq!(
        found,
        ["`a` changed its type from object to array", "`b` changed its type from integer (uint8) to object"]
    );
}
