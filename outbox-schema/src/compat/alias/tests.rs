//! Aliases in every form of type: what is found, and what the gate makes of a new name.

use super::*;
use crate::compat::{FindingId, check, contract_of, open, payloads_of};
use crate::{Event, EventDescriptor, EventSource, KeySource, OnPoison, OrderingMode};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Of<T> {
    value: T,
    sku: Option<u8>,
}

trait Type: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {}
impl<T: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static> Type for T {}

impl<T: Type> Event for Of<T> {
    const TYPE: &'static str = "test.aliases";
    const VERSION: u32 = 1;
    const TOPIC: &'static str = "test";
    const ORDERING: OrderingMode = OrderingMode::Unordered;
    const ON_POISON: OnPoison = OnPoison::Skip;
    fn partition_key(&self) -> Option<String> {
        None
    }
}

fn event<T: Type>() -> EventDescriptor {
    EventDescriptor::of::<Of<T>>(EventSource {
        key: KeySource::None,
        emitted_by: "",
        deprecated: None,
        retired: None,
        description: "",
        rust_path: "",
        file: "",
        line: 1,
        fields: &[],
    })
}

/// The contract as `schema-accept` writes it after the release of `before`.
fn contract<T: Type>(before: Option<&Contract>) -> Contract {
    let event = event::<T>();
    let mut contract = contract_of(&event).unwrap();
    if let Some(before) = before {
        find_again(&event, &mut contract, before);
    }
    contract
}

/// The aliases of a type alone, a line each.
fn aliases<T: Type>() -> Vec<String> {
    told(&contract::<T>(None))
}

fn told(contract: &Contract) -> Vec<String> {
    let told = all(contract).map(|(place, name, aliases)| format!("{place} {name}: {}", aliases.join(" ")));
    told.collect()
}

/// What the gate says of `New` after a release with `Old`.
fn found<Old: Type, New: Type>() -> Vec<(FindingId, String)> {
    let old = contract::<Old>(None);
    let new = contract::<New>(Some(&old));
    check(&old, &new, None).into_iter().map(|finding| (finding.id, finding.pointer)).collect()
}

macro_rules! types {
    ($($(#[$attribute:meta])* struct $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty,)* })*) => {$(
        #[derive(Serialize, Deserialize, JsonSchema)]
        $(#[$attribute])*
        struct $name { $($(#[$of_field])* $field: $type,)* }
    )*};
}

types! {
    struct Sku { sku: String, count: u8, }
    struct Renamed { #[serde(alias = "sku")] article: String, count: u8, }
    struct Prepared { #[serde(alias = "article")] sku: String, count: u8, }
    struct Dropped { article: String, count: u8, }
    struct SkuMaybe { #[serde(skip_serializing_if = "Option::is_none")] sku: Option<String>, count: u8, }
    struct PreparedMaybe { #[serde(alias = "article")] sku: Option<String>, count: u8, }
    struct RenamedMaybe { #[serde(alias = "sku")] article: Option<String>, count: u8, }
    struct DroppedMaybe { article: Option<String>, count: u8, }
    #[serde(deny_unknown_fields)]
    struct Strict { #[serde(alias = "article")] sku: String, count: u8, }
    struct Many { #[serde(alias = "b", alias = "a")] m: u8, #[serde(alias = "c")] d: Option<u8>, #[serde(default)] e: u8, }
    #[expect(dead_code, reason = "serde reads it into the field, and nobody reads the field")]
    struct OnlyRead { #[serde(alias = "article", skip_serializing, default)] sku: String, count: u8, }
    struct Tree { #[serde(alias = "apex")] top: u8, more: Vec<Tree>, }
    struct Twice { #[serde(alias = "article")] sku: String, inner: Prepared, }
    struct Flat { #[serde(flatten)] inner: Prepared, }
    struct FlatRenamed { #[serde(flatten)] inner: Renamed, }
    struct FlatSku { #[serde(flatten)] inner: Sku, }
}

use FindingId::*;
const BACKWARD: FindingId = ReaderRefusesReleased;
const FORWARD: FindingId = ReleasedReaderRefuses;

#[test]
fn the_aliases_of_nested_types_are_found() {
    assert_eq!(aliases::<Sku>(), [""; 0]);
    assert_eq!(aliases::<Prepared>(), ["/value sku: article"]);
    assert_eq!(aliases::<Strict>(), ["/value sku: article"]);
    assert_eq!(aliases::<Vec<Option<Prepared>>>(), ["/value/* sku: article"]);
    assert_eq!(aliases::<BTreeMap<String, PreparedMaybe>>(), ["/value/* sku: article"]);
    assert_eq!(aliases::<Many>(), ["/value d: c", "/value m: a b"]);
    assert_eq!(aliases::<OnlyRead>(), ["/value sku: article"]);
    assert_eq!(aliases::<Tree>(), ["/value top: apex"]);
    assert_eq!(aliases::<Twice>(), ["/value sku: article", "/value/inner sku: article"]);
    assert_eq!(aliases::<(u8, Box<Prepared>)>(), ["/value/* sku: article"]);
}

#[test]
fn a_new_name_is_read_under_the_old_one_and_breaks_only_readers_that_do_not_know_it() {
    assert_eq!(found::<Sku, Renamed>(), [(FORWARD, "/value/sku".to_owned())]);
    assert_eq!(found::<Vec<Sku>, Vec<Renamed>>(), [(FORWARD, "/value/0/sku".to_owned())]);
    assert_eq!(found::<FlatSku, FlatRenamed>(), [(FORWARD, "/value/sku".to_owned())]);
    let both = [(BACKWARD, "/value/article".to_owned()), (FORWARD, "/value/sku".to_owned())];
    assert_eq!(found::<Sku, Dropped>(), both);
}

#[test]
fn a_reader_that_was_prepared_for_the_new_name_breaks_only_those_who_look_for_the_old_one() {
    assert_eq!(found::<Prepared, Renamed>(), [(FieldRemoved, "/value/sku".to_owned())]);
    assert_eq!(found::<PreparedMaybe, RenamedMaybe>(), [(FieldRemoved, "/value/sku".to_owned())]);
    assert_eq!(found::<Strict, Renamed>(), [(FieldRemoved, "/value/sku".to_owned())]);
}

#[test]
fn an_alias_that_comes_harms_nobody_and_one_that_goes_does() {
    assert_eq!(found::<Sku, Prepared>(), []);
    assert_eq!(found::<Prepared, Prepared>(), []);
    assert_eq!(found::<Prepared, Sku>(), [(AliasRemoved, "/value/sku".to_owned())]);
    assert_eq!(found::<Vec<PreparedMaybe>, Vec<SkuMaybe>>(), [(AliasRemoved, "/value/0/sku".to_owned())]);
    assert_eq!(found::<Renamed, Dropped>(), [(AliasRemoved, "/value/article".to_owned())]);
    assert_eq!(found::<RenamedMaybe, DroppedMaybe>(), [(AliasRemoved, "/value/article".to_owned())]);
}

#[test]
fn a_field_that_takes_over_the_name_of_another_breaks_where_both_are_written() {
    types! {
        struct Two { a: u8, b: Option<u8>, }
        struct One { #[serde(alias = "b")] a: u8, }
        struct Wide { a: u8, b: String, }
    }
    let refused = (BACKWARD, "/value".to_owned());
    assert_eq!(found::<Two, One>()[0].0, refused.0, "{:?}", found::<Two, One>());
    assert_eq!(found::<Wide, One>()[0].0, refused.0, "{:?}", found::<Wide, One>());
}

#[test]
fn a_field_that_is_only_read_goes_on_under_an_alias() {
    types! {
        #[expect(dead_code, reason = "serde reads it into the field, and nobody reads the field")]
        struct Later { #[serde(alias = "sku", skip_serializing, default)] article: String, count: u8, }
    }
    assert_eq!(found::<OnlyRead, Later>(), []);
}

macro_rules! enums {
    ($($(#[$attribute:meta])* enum $name:ident { $($body:tt)* })*) => {$(
        #[derive(Serialize, Deserialize, JsonSchema)]
        $(#[$attribute])*
        enum $name { $($body)* }
    )*};
}

enums! {
    enum External { Unit, Two(u8), Three { a: u8 } }
    enum ExternalPrepared { #[serde(alias = "Un")] Unit, #[serde(alias = "Deux")] Two(u8), Three { #[serde(alias = "ah")] a: u8 } }
    enum ExternalRenamed { #[serde(alias = "Unit")] Un, #[serde(alias = "Two")] Deux(u8), Three { a: u8 } }
    #[serde(tag = "kind")]
    enum Internal { Unit, Three { a: u8 } }
    #[serde(tag = "kind")]
    enum InternalPrepared { #[serde(alias = "Un")] Unit, #[serde(alias = "Trois")] Three { a: u8 } }
    #[serde(tag = "kind")]
    enum InternalRenamed { #[serde(alias = "Unit")] Un, #[serde(alias = "Three")] Trois { a: u8 } }
    #[serde(tag = "kind")]
    enum InternalField { Unit, Three { #[serde(alias = "a")] b: u8 } }
    #[serde(tag = "kind", content = "with")]
    enum Adjacent { Unit, Three { a: u8 } }
    #[serde(tag = "kind", content = "with")]
    enum AdjacentPrepared { #[serde(alias = "Un")] Unit, #[serde(alias = "Trois")] Three { #[serde(alias = "ah")] a: u8 } }
    #[serde(tag = "kind", content = "with")]
    enum AdjacentRenamed { #[serde(alias = "Unit")] Un, #[serde(alias = "Three")] Trois { a: u8 } }
    #[serde(untagged)]
    enum Untagged { Text(String), Three { a: u8 } }
    #[serde(untagged)]
    enum UntaggedRenamed { Text(String), Three { #[serde(alias = "a")] b: u8 } }
    #[serde(tag = "kind")]
    enum Open { #[serde(alias = "Un")] Unit, Three { a: u8 }, #[serde(other)] Other }
    #[serde(tag = "kind")]
    enum OpenRenamed { #[serde(alias = "Unit")] Un, Three { a: u8 }, #[serde(other)] Other }
}

#[test]
fn the_aliases_of_variants_are_found_in_each_representation() {
    assert_eq!(aliases::<ExternalPrepared>(), ["/value Two: Deux", "/value Unit: Un", "/value/Three a: ah"]);
    assert_eq!(aliases::<InternalPrepared>(), ["/value/kind Three: Trois", "/value/kind Unit: Un"]);
    assert_eq!(aliases::<AdjacentPrepared>(), ["/value/kind Three: Trois", "/value/kind Unit: Un"]);
    // It refuses no name, so nothing makes it tell those it knows.
    assert_eq!(aliases::<Open>(), [""; 0]);
}

#[test]
fn a_renamed_variant_is_read_under_its_old_name() {
    let forward = |at: &str| vec![(FORWARD, at.to_owned())];
    let only_forward = |found: Vec<(FindingId, String)>| {
        assert!(found.iter().all(|(id, _)| *id == FORWARD) && !found.is_empty(), "{found:?}");
    };
    only_forward(found::<External, ExternalRenamed>());
    assert_eq!(found::<Internal, InternalRenamed>(), forward("/value/kind"));
    assert_eq!(found::<Adjacent, AdjacentRenamed>(), forward("/value/kind"));
    only_forward(found::<Internal, InternalField>());
    only_forward(found::<Untagged, UntaggedRenamed>());
}

#[test]
fn a_variant_may_be_renamed_once_all_readers_know_the_new_name() {
    assert_eq!(found::<ExternalPrepared, ExternalRenamed>(), [(AliasRemoved, "/value/Three/a".to_owned())]);
    assert_eq!(found::<InternalPrepared, InternalRenamed>(), []);
    assert_eq!(found::<AdjacentPrepared, AdjacentRenamed>(), []);
    assert_eq!(found::<Open, OpenRenamed>(), []);
    assert_eq!(found::<InternalPrepared, Internal>().len(), 2);
}

#[test]
fn names_change_on_several_levels_at_once() {
    types! {
        struct Order { lines: Vec<Sku>, }
        struct Renewed { #[serde(alias = "lines")] items: Vec<Renamed>, }
        struct Ready { #[serde(alias = "items")] lines: Vec<Prepared>, }
    }
    assert_eq!(found::<Order, Renewed>(), [(FORWARD, "/value/lines".to_owned())]);
    assert_eq!(found::<Ready, Renewed>(), [(FieldRemoved, "/value/lines".to_owned())]);
}

#[test]
fn what_is_found_stays_in_the_contract() {
    let old = contract::<FlatSku>(None);
    let new = contract::<FlatRenamed>(Some(&old));
    assert_eq!(told(&new), ["/value article: sku"]);
    assert_eq!(Contract::parse(&new.to_text()).unwrap(), new);
    assert_eq!(contract::<FlatRenamed>(Some(&new)), new);
    types! { struct FlatDropped { #[serde(flatten)] inner: Dropped, } }
    let last = contract::<FlatDropped>(Some(&new));
    let findings = check(&new, &last, None);
    assert_eq!(findings.iter().map(|finding| finding.id).collect::<Vec<_>>(), [AliasRemoved]);
}

#[test]
fn a_sample_tells_of_an_alias_that_serde_hides() {
    assert_eq!(aliases::<Flat>(), [""; 0]);
    let event = event::<Flat>();
    let contract = Contract::of(&event).unwrap();
    let payload =
        json!({ "eventType": "test.aliases", "eventVersion": 1, "value": { "article": "a", "count": 1 } });
    let samples = [crate::compat::Sample { name: "samples/a.json".to_owned(), payload }];
    let payloads = payloads_of(&contract.reads);
    let found = find(&event, &contract, &payloads, &samples, open::Names::new());
    assert_eq!(told(&Contract { nested_aliases: found, ..contract }), ["/value sku: article"]);
}
