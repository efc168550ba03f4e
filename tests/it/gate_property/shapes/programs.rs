//! Types as programs that write and read an event, with their contracts.

use super::enums::*;
use super::leaves::*;
use super::structs::*;
use super::{Dice, Shape};
use outbox::__private::{EventDescriptor, EventSource, KeySource};
use outbox::compat::contract_of;
use outbox::{Contract, Event, OnPoison, OrderingMode, RoundTripError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One type as a program that writes and reads an event.
pub(crate) struct Program {
    /// The form around the inner type, by its name.
    pub(crate) form: &'static str,
    /// The inner type.
    pub(crate) inner: &'static str,
    /// The event of which the type is the only field.
    pub(crate) event: &'static EventDescriptor,
    /// Its contract.
    pub(crate) contract: Contract,
    write: fn(&mut Dice) -> String,
}

/// An event with one field.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(bound = "T: Shape")]
#[schemars(bound = "T: Shape")]
struct Of<T> {
    value: T,
}

impl<T: Shape> Event for Of<T> {
    const TYPE: &'static str = "test.shape";
    const VERSION: u32 = 1;
    const TOPIC: &'static str = "test-shapes";
    const ORDERING: OrderingMode = OrderingMode::Unordered;
    const ON_POISON: OnPoison = OnPoison::Skip;

    fn partition_key(&self) -> Option<String> {
        None
    }
}

fn write<T: Shape>(dice: &mut Dice) -> String {
    loop {
        dice.refresh();
        // A variant that is only read can't be written.
        if let Ok(payload) = serde_json::to_string(&Of { value: T::draw(dice) }) {
            return payload;
        }
    }
}

impl Program {
    fn of<T: Shape>(form: &'static str, inner: &'static str) -> Self {
        let source = EventSource {
            key: KeySource::None,
            emitted_by: "tests",
            deprecated: None,
            retired: None,
            description: "",
            rust_path: std::any::type_name::<T>(),
            file: file!(),
            line: line!(),
            fields: &[],
        };
        let event: &'static EventDescriptor = Box::leak(Box::new(EventDescriptor::of::<Of<T>>(source)));
        let contract = contract_of(event).unwrap_or_else(|error| panic!("{error}"));
        Self { form, inner, event, contract, write: write::<T> }
    }

    /// Whether it reads otherwise than its contract shows. Beyond its bounds an `f32` is refused; that `f64` and `f32` are
    /// not each other is a policy on formats.
    pub(crate) fn has_hidden_rules(&self) -> bool {
        self.inner.contains("f32")
    }

    /// The payload of a random event.
    pub(crate) fn write(&self, dice: &mut Dice) -> String {
        (self.write)(dice)
    }

    /// What is written of `payload` once it is read, if it can be.
    ///
    /// # Errors
    /// The words of serde, where it is not read.
    pub(crate) fn read(&self, payload: &str) -> Result<Option<String>, String> {
        match (self.event.round_trip)(payload) {
            Ok(written) => Ok(Some(written)),
            Err(RoundTripError::Refused(error)) => Err(error.to_string()),
            Err(_) => Ok(None),
        }
    }
}

/// Puts each form around each inner type.
macro_rules! programs {
    ([$($form:ident)*] around $inners:tt) => { vec![$(programs!(@ $form $inners)),*] };
    (@ $form:ident [$($inner:ty,)*]) => {
        vec![$(Program::of::<$form<$inner>>(stringify!($form), stringify!($inner))),*]
    };
}

impl Program {
    /// All of them. Forms of one group around one type, and one form around the types of its list, are an edit apart.
    #[must_use]
    pub(crate) fn all() -> Vec<Self> {
        let structs: Vec<Vec<Self>> = programs!(
            [
                Plain Wider Alone Optional Nested MoreOptional MoreOfAnother MoreRequired
                MoreDefault Default DefaultAll Skipped SkippedPreset Denying DenyingMore Renamed
                Aliased Upper OnlyRead OnlyWritten Flat FlatTwice FlatOptional FlatMap FlatAll
                FlatTagged FlatTaggedMap FlatExternal FlatAdjacent FlatUntagged Transparent Tree List ListSkipped
                Newtype Tuple Vec Option Box
            ] around [u8, String, Option<u8>,]
        );
        let enums: Vec<Vec<Self>> = programs!(
            [
                External ExternalMore ExternalTuple ExternalGrown ExternalLower ExternalReads
                ExternalWrapped ExternalRenamed ExternalUpper Internal InternalMore InternalOtherTag
                InternalOpen InternalDenying InternalFlat Adjacent AdjacentMore AdjacentOpen
                AdjacentDenying AdjacentOtherContent Untagged UntaggedTurned UntaggedMore
                UntaggedStruct Nullable Mixed Either FlatDeep FlatSkipped Ping Pong Ignored Bounded
            ] around [u8, String,]
        );
        let inside: Vec<Vec<Self>> = programs!(
            [Alone] around [
                u16, i8, u32, i32, u64, i64, u128, i128, f32, f64, bool, char, (), Unit, Color,
                Colors, LowerColor, RenamedColor, ReadColor, Option<String>, Option<Color>, Vec<u8>,
                Vec<u32>, Vec<Option<u8>>, BTreeSet<u8>, [u8; 2], [u8; 3], (u8, u8), (u8, String),
                (u8, u8, u8), BTreeMap<String, u8>, BTreeMap<String, u32>, BTreeMap<u8, u8>,
                BTreeMap<i64, u8>, BTreeMap<Color, u8>, Newtype<u8>, Tuple<u8>, Option<Vec<u8>>,
                Option<Option<u8>>, Result<u8, String>, Result<u8, u8>, Value, Option<Value>,
                Vec<Value>,
            ]
        );
        let nested: Vec<Vec<Self>> = programs!(
            [Alone Optional Flat External Untagged Vec Skipped] around [
                Plain<u8>, MoreOptional<u8>, Skipped<u8>, External<u8>, ExternalMore<u8>,
                Internal<u8>, InternalMore<u8>, Untagged<u8>,
            ]
        );
        [structs, enums, inside, nested].into_iter().flatten().flatten().collect()
    }
}
