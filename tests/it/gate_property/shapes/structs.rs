//! Structs, each one or two edits away from `Plain`.

use super::{Dice, Shape, declare_structs, is_preset, preset};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

declare_structs! {
    Plain { a: T, b: u8, }
    Wider { a: T, b: u32, }
    Alone { a: T, }
    Optional { a: Option<T>, b: u8, }
    Nested { a: Box<Alone<T>>, b: u8, }
    MoreOptional { a: T, b: u8, c: Option<T>, }
    MoreOfAnother { a: T, b: u8, c: Option<String>, }
    MoreRequired { a: T, b: u8, c: T, }
    MoreDefault { a: T, b: u8, #[serde(default = "preset::<T>")] c: T, }
    Default { #[serde(default = "preset::<T>")] a: T, b: u8, }
    DefaultAll { #[serde(default)] a: Option<T>, #[serde(default)] b: u8, }
    Skipped { #[serde(default, skip_serializing_if = "Option::is_none")] a: Option<T>, b: u8, }
    SkippedPreset { #[serde(default = "preset::<T>", skip_serializing_if = "is_preset")] a: T, b: u8, }
    Renamed { #[serde(rename = "z")] a: T, b: u8, }
    Aliased { #[serde(rename = "z", alias = "a")] a: T, b: u8, }
    #[serde(rename_all = "UPPERCASE")]
    Upper { a: T, b: u8, }
    #[expect(dead_code, reason = "serde reads it, and nobody writes it")]
    OnlyRead { #[serde(skip_serializing)] a: Option<T>, b: u8, }
    OnlyWritten { #[serde(skip_deserializing, default = "preset::<T>")] a: T, b: u8, }
    Flat { #[serde(flatten)] inner: Alone<T>, b: u8, }
    FlatTwice { #[serde(flatten)] inner: Alone<T>, #[serde(flatten)] more: Bee<T>, }
    FlatOptional { #[serde(flatten)] inner: Option<Alone<T>>, b: u8, }
    FlatMap { b: u8, #[serde(flatten)] rest: BTreeMap<String, T>, }
    FlatAll { #[serde(flatten)] inner: Plain<T>, #[serde(flatten)] rest: BTreeMap<String, T>, }
    FlatTagged { b: u8, #[serde(flatten)] inner: super::enums::Internal<T>, }
    FlatTaggedMap {
        #[serde(flatten)]
        inner: super::enums::Adjacent<T>,
        #[serde(flatten)]
        rest: BTreeMap<String, T>,
    }
    FlatExternal { b: u8, #[serde(flatten)] inner: super::enums::External<T>, }
    FlatAdjacent { b: u8, #[serde(flatten)] inner: super::enums::Adjacent<T>, }
    FlatUntagged { b: u8, #[serde(flatten)] inner: super::enums::UntaggedStruct<T>, }
    #[serde(transparent)]
    Transparent { a: T, }
    Tree { a: T, more: Vec<Tree<T>>, }
    List { a: T, next: Option<Box<List<T>>>, }
    ListSkipped { a: T, #[serde(default, skip_serializing_if = "Option::is_none")] next: Option<Box<ListSkipped<T>>>, }
    Bee { b: u8, #[serde(default, skip_serializing_if = "Option::is_none")] d: Option<T>, }
    FlatDeep { #[serde(flatten)] inner: Flat<T>, c: Option<u8>, }
    FlatSkipped { #[serde(flatten)] inner: Skipped<T>, c: Option<u8>, }
    Ping { a: T, pong: Option<Box<Pong<T>>>, }
    Pong { b: u8, ping: Vec<Ping<T>>, }
    #[expect(dead_code, reason = "serde skips it, both ways")]
    Ignored { a: T, b: u8, #[serde(skip, default = "preset::<T>")] c: T, }
    Bounded { #[schemars(length(min = 1))] a: Vec<T>, b: u8, }
}

declare_structs! {
    #[serde(deny_unknown_fields)]
    Denying { a: T, b: u8, }
    #[serde(deny_unknown_fields)]
    DenyingMore { a: T, b: u8, c: Option<T>, }
}

/// A name of its own for another type.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(bound = "T: Shape")]
#[schemars(bound = "T: Shape")]
pub(super) struct Newtype<T>(T);

impl<T: Shape> Shape for Newtype<T> {
    fn draw(dice: &mut Dice) -> Self {
        Self(T::draw(dice))
    }
}

/// Two values without names.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(bound = "T: Shape")]
#[schemars(bound = "T: Shape")]
pub(super) struct Tuple<T>(T, u8);

impl<T: Shape> Shape for Tuple<T> {
    fn draw(dice: &mut Dice) -> Self {
        Self(T::draw(dice), u8::draw(dice))
    }
}
