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
            #[allow(dead_code)]
            $old
            schema_for!(E).to_value()
        };
        let new = {
            #[derive(Serialize, Deserialize, JsonSchema)]
            #[allow(dead_code)]
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
            "`c` has other limits",
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
