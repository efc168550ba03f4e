//! Random values of the types that come with Rust.

use super::{Dice, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers at their bounds, small ones, and any.
macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Shape for $type {
            fn draw(dice: &mut Dice) -> Self {
                let any = $type::from_le_bytes(*u128::from(dice.any()).to_le_bytes().first_chunk().unwrap());
                dice.one_of(&[0, 1, 7, $type::MIN, $type::MAX, any])
            }
        }
    )*};
}

integers!(u8 i8 u16 u32 i32 u64 i64 u128 i128);

impl Shape for f64 {
    fn draw(dice: &mut Dice) -> Self {
        dice.one_of(&[0.0, 1.0, -1.0, 0.5, 300.0, -1.5e9, 1.0e300, 1.0e-7])
    }
}

impl Shape for f32 {
    fn draw(dice: &mut Dice) -> Self {
        dice.one_of(&[0.0, 1.0, 0.5, -300.0, 3.0e38])
    }
}

impl Shape for bool {
    fn draw(dice: &mut Dice) -> Self {
        dice.one_of(&[true, false])
    }
}

impl Shape for char {
    fn draw(dice: &mut Dice) -> Self {
        dice.one_of(&['a', 'A', '0', '"', 'é', '\u{1f4e6}'])
    }
}

impl Shape for () {
    fn draw(_: &mut Dice) -> Self {}
}

impl Shape for String {
    fn draw(dice: &mut Dice) -> Self {
        let texts =
            ["", "a", "text", "0", "-1", "1.5", "true", "null", "One", "Two", "One two", "\u{1f4e6}\n\""];
        dice.one_of(&texts).to_owned()
    }
}

impl<T: Shape> Shape for Option<T> {
    fn draw(dice: &mut Dice) -> Self {
        (dice.count(2) > 0).then(|| T::draw(dice))
    }
}

impl<T: Shape> Shape for Box<T> {
    fn draw(dice: &mut Dice) -> Self {
        Self::new(T::draw(dice))
    }
}

impl<T: Shape> Shape for Vec<T> {
    fn draw(dice: &mut Dice) -> Self {
        (0..dice.count(3)).map(|_| T::draw(dice)).collect()
    }
}

impl<T: Shape> Shape for [T; 2] {
    fn draw(dice: &mut Dice) -> Self {
        [T::draw(dice), T::draw(dice)]
    }
}

impl<T: Shape> Shape for [T; 3] {
    fn draw(dice: &mut Dice) -> Self {
        [T::draw(dice), T::draw(dice), T::draw(dice)]
    }
}

impl<T: Shape + Ord> Shape for BTreeSet<T> {
    fn draw(dice: &mut Dice) -> Self {
        (0..dice.count(3)).map(|_| T::draw(dice)).collect()
    }
}

impl<T: Shape, E: Shape> Shape for Result<T, E> {
    fn draw(dice: &mut Dice) -> Self {
        if dice.variant(2) == 0 { Ok(T::draw(dice)) } else { Err(E::draw(dice)) }
    }
}

impl Shape for Value {
    fn draw(dice: &mut Dice) -> Self {
        match dice.variant(6) {
            0 => Self::Null,
            1 => Self::from(u8::draw(dice)),
            2 => Self::from(String::draw(dice)),
            3 => Self::from(f64::draw(dice)),
            4 => Self::from(Vec::<Self>::draw(dice)),
            _ => BTreeMap::<String, Self>::draw(dice).into_iter().collect(),
        }
    }
}

impl<A: Shape, B: Shape> Shape for (A, B) {
    fn draw(dice: &mut Dice) -> Self {
        (A::draw(dice), B::draw(dice))
    }
}

impl<A: Shape, B: Shape, C: Shape> Shape for (A, B, C) {
    fn draw(dice: &mut Dice) -> Self {
        (A::draw(dice), B::draw(dice), C::draw(dice))
    }
}

/// A key of a map.
pub(super) trait Key: Ord + Shape {
    fn draw_key(dice: &mut Dice) -> Self {
        Self::draw(dice)
    }
}

impl Key for u8 {}
impl Key for i64 {}
impl Key for Color {}

impl Key for String {
    /// Never `a` or `b`: a map that is flattened beside fields of these names would write them twice.
    fn draw_key(dice: &mut Dice) -> Self {
        dice.one_of(&["c", "d", "z", "0", "One two"]).to_owned()
    }
}

impl<K: Key, T: Shape> Shape for BTreeMap<K, T> {
    fn draw(dice: &mut Dice) -> Self {
        (0..dice.count(3)).map(|_| (K::draw_key(dice), T::draw(dice))).collect()
    }
}

/// Declares enums of plain names.
macro_rules! names {
    ($($(#[$meta:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident),* })*) => {$(
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        $(#[$meta])*
        pub(super) enum $name { $($(#[$of_variant])* $variant),* }

        impl Shape for $name {
            fn draw(dice: &mut Dice) -> Self {
                dice.one_of(&[$(Self::$variant),*])
            }
        }
    )*};
}

names! {
    Color { Red, Green }
    /// One value more.
    Colors { Red, Green, Blue }
    /// The same names in other letters.
    #[serde(rename_all = "lowercase")]
    LowerColor { Red, Green }
    /// One name that was another one.
    RenamedColor { Red, #[serde(rename = "Lime", alias = "Green")] Green }
    /// One value that is only read.
    ReadColor { Red, Green, #[serde(skip_serializing)] Blue }
}

/// Which is left out of what is written, whatever `Color` is.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct Unit;

impl Shape for Unit {
    fn draw(_: &mut Dice) -> Self {
        Self
    }
}
