//! What serde and schemars must give an event, as traits of ours.
//!
//! Each holds for exactly the types that have the foreign trait. They exist for their errors: a missing derive is
//! reported once, in words that name it. Two things about rustc 1.95 decide their shape:
//!
//! - With one impl to choose from, rustc takes it and then complains of the foreign trait in the impl's bounds.
//!   With two it weighs both, rejects both, and complains of our trait. Hence the second impl, which never holds.
//! - The complaint of our trait swallows the one of its supertrait, so an event still *is* `Serialize` and so on.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::marker::PhantomData;

/// How a type comes to the traits of this module: in the one way there is.
#[derive(Debug)]
pub enum ByDerive {}

mod never {
    /// Holds for no type.
    pub trait Never {}
}

/// A type that serde can write.
#[diagnostic::on_unimplemented(
    message = "the event `{Self}` cannot be written as JSON: it does not implement `Serialize`",
    label = "add `Serialize` to the derives of this event",
    note = "an event is declared with `#[derive(Event, Serialize, Deserialize, JsonSchema)]`"
)]
pub trait WrittenAsJson<Way = ByDerive>: Serialize {}

impl<T: Serialize> WrittenAsJson for T {}
impl<T: Serialize, Way> WrittenAsJson<Way> for T where PhantomData<(T, Way)>: never::Never {}

/// A type that serde can read, keeping nothing of the text.
#[diagnostic::on_unimplemented(
    message = "the event `{Self}` cannot be read from JSON: it does not implement `Deserialize`",
    label = "add `Deserialize` to the derives of this event",
    note = "an event is declared with `#[derive(Event, Serialize, Deserialize, JsonSchema)]`"
)]
pub trait ReadFromJson<Way = ByDerive>: DeserializeOwned {}

impl<T: DeserializeOwned> ReadFromJson for T {}
impl<T: DeserializeOwned, Way> ReadFromJson<Way> for T where PhantomData<(T, Way)>: never::Never {}

/// A type that schemars can describe.
#[diagnostic::on_unimplemented(
    message = "the event `{Self}` has no JSON Schema: it does not implement `JsonSchema`",
    label = "add `JsonSchema` to the derives of this event",
    note = "an event is declared with `#[derive(Event, Serialize, Deserialize, JsonSchema)]`"
)]
pub trait DescribedBySchema<Way = ByDerive>: JsonSchema {}

impl<T: JsonSchema> DescribedBySchema for T {}
impl<T: JsonSchema, Way> DescribedBySchema<Way> for T where PhantomData<(T, Way)>: never::Never {}
