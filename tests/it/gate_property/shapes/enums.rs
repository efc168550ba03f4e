//! Enums in every representation, and the edits of each.

use super::structs::Alone;
use super::{Dice, Shape, declare_enums};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

declare_enums! {
    External { One, Two(T), Three { a: T }, }
    ExternalMore { One, Two(T), Three { a: T }, Four(u8), }
    ExternalTuple { One, Two(T, u8), Three { a: T }, }
    ExternalGrown { One, Two(T), Three { a: T, c: Option<T> }, }
    #[serde(rename_all = "lowercase")]
    ExternalLower { One, Two(T), Three { a: T }, }
    ExternalRenamed { #[serde(rename = "Uno", alias = "One")] One, Two(T), Three { a: T }, }
    #[serde(rename_all_fields = "UPPERCASE")]
    ExternalUpper { One, Two(T), Three { a: T }, }
    #[expect(dead_code, reason = "serde reads the last one, and nobody writes it")]
    ExternalReads { One, Two(T), Three { a: T }, #[serde(skip_serializing)] Four(u8), }
    ExternalWrapped { One, Two(Box<Alone<T>>), Three { a: T }, }

    #[serde(tag = "kind")]
    Internal { One, Two(Alone<T>), Three { a: T, c: Option<u8> }, }
    #[serde(tag = "kind")]
    InternalMore { One, Two(Alone<T>), Three { a: T, c: Option<u8> }, Four { d: u8 }, }
    #[serde(tag = "type")]
    InternalOtherTag { One, Two(Alone<T>), Three { a: T, c: Option<u8> }, }
    #[serde(tag = "kind")]
    InternalOpen { One, Two(Alone<T>), Three { a: T, c: Option<u8> }, #[serde(other)] Other, }
    #[serde(tag = "kind", deny_unknown_fields)]
    InternalDenying { One, Two(Alone<T>), Three { a: T, c: Option<u8> }, }

    #[serde(tag = "kind", content = "with")]
    Adjacent { One, Two(T), Three { a: T }, }
    #[serde(tag = "kind", content = "with")]
    AdjacentMore { One, Two(T), Three { a: T }, Four(u8), }
    #[serde(tag = "kind", content = "with")]
    AdjacentOpen { One, Two(T), Three { a: T }, #[serde(other)] Other, }
    #[serde(tag = "kind", content = "with", deny_unknown_fields)]
    AdjacentDenying { One, Two(T), Three { a: T }, }
    #[serde(tag = "kind")]
    InternalFlat { One, Two(super::structs::Flat<T>), Three { a: T, #[serde(flatten)] more: super::structs::Bee<T> }, }
    #[serde(tag = "kind", content = "in")]
    AdjacentOtherContent { One, Two(T), Three { a: T }, }

    #[serde(untagged)]
    Untagged { One(bool), Two(T), Three { a: T }, }
    #[serde(untagged)]
    UntaggedTurned { Three { a: T }, Two(T), One(bool), }
    #[serde(untagged)]
    UntaggedMore { One(bool), Two(T), Three { a: T }, Four(Vec<T>), }
    #[serde(untagged)]
    UntaggedStruct { One { a: T }, Two { c: T, d: Option<u8> }, }
    /// One variant is told by its name, the other by its form.
    Mixed { One, Three { a: T }, #[serde(untagged)] Two(T), }
    #[serde(untagged)]
    Nullable { Nothing, Two(T), }
    #[serde(untagged)]
    Either { One(T), Two(String), }
}
