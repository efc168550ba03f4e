//! Rust types of every form that serde has, each with a way to draw a random value.
//!
//! The forms are generic, and [`Program::all`] names some hundred of them, nested in each other: enough pairs that are one
//! edit apart, for a small part of the time that as many types written out would take to compile.

mod enums;
mod leaves;
mod programs;
mod structs;

pub(crate) use programs::Program;

use rand::{RngExt, SeedableRng, rngs::StdRng};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// A type of which random values can be drawn.
pub(crate) trait Shape: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// A random value; a small one once the dice are worn.
    fn draw(dice: &mut Dice) -> Self;
}

/// A source of random choices that ends the values of recursive types.
pub(crate) struct Dice {
    random: StdRng,
    /// Containers that may still be filled.
    left: u32,
}

/// Containers in one value.
const CONTAINERS_MAX: u32 = 12;

impl Dice {
    /// Dice that fall the same way for the same seed.
    #[must_use]
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: StdRng::seed_from_u64(seed), left: CONTAINERS_MAX }
    }

    /// A new value is begun.
    pub(crate) fn refresh(&mut self) {
        self.left = CONTAINERS_MAX;
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.random.random_range(0..end)
    }

    /// One of the values.
    pub(crate) fn one_of<V: Clone>(&mut self, values: &[V]) -> V {
        values[self.below(values.len())].clone()
    }

    /// How many parts to put into a container, at most `max`; none once there are many containers.
    fn count(&mut self, max: usize) -> usize {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { 0 } else { self.below(max + 1) }
    }

    /// One of `count` variants, the first once there are many containers.
    fn variant(&mut self, count: usize) -> usize {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { 0 } else { self.below(count) }
    }

    fn any(&mut self) -> u64 {
        self.random.random()
    }
}

/// What a field without a value is read as.
fn preset<T: Shape>() -> T {
    T::draw(&mut Dice::new(1))
}

/// Whether a field is left out when it is written.
fn is_preset<T: Shape>(value: &T) -> bool {
    let text = |value: &T| serde_json::to_string(value).ok();
    text(value) == text(&preset())
}

/// Declares a struct with one type parameter as a [`Shape`].
macro_rules! declare_structs {
    ($($(#[$meta:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty,)* })*) => {$(
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(bound = "T: Shape")]
        #[schemars(bound = "T: Shape")]
        $(#[$meta])*
        pub(super) struct $name<T> { $($(#[$of_field])* $field: $type,)* }

        impl<T: Shape> Shape for $name<T> {
            fn draw(dice: &mut Dice) -> Self {
                Self { $($field: Shape::draw(dice),)* }
            }
        }
    )*};
}

/// Declares an enum with one type parameter as a [`Shape`].
macro_rules! declare_enums {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$of_variant:meta])* $variant:ident $(($($type:ty),*))? $({ $($(#[$attribute:meta])* $field:ident: $of_field:ty),* })?,)*
    })*) => {$(
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(bound = "T: Shape")]
        #[schemars(bound = "T: Shape")]
        $(#[$meta])*
        pub(super) enum $name<T> {
            $($(#[$of_variant])* $variant $(($($type),*))? $({ $($(#[$attribute])* $field: $of_field),* })?,)*
        }

        impl<T: Shape> Shape for $name<T> {
            fn draw(dice: &mut Dice) -> Self {
                let variants: &[fn(&mut Dice) -> Self] = &[
                    $(|dice| {
                        // A variant without fields draws nothing.
                        _ = &dice;
                        Self::$variant $(($(<$type as Shape>::draw(dice)),*))? $({ $($field: Shape::draw(dice)),* })?
                    },)*
                ];
                variants[dice.variant(variants.len())](dice)
            }
        }
    )*};
}

use {declare_enums, declare_structs};
