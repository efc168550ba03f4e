//! What is found by trying a type out, and what is not held against it.

use super::*;
use crate::{Event, EventSource, KeySource, OnPoison, OrderingMode};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};

/// An event with one field of interest.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Of<T> {
    value: T,
    note: Option<String>,
}

impl<T: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static> Event for Of<T> {
    const TYPE: &'static str = "things.seen";
    const VERSION: u32 = 1;
    const TOPIC: &'static str = "things";
    const ORDERING: OrderingMode = OrderingMode::Unordered;
    const ON_POISON: OnPoison = OnPoison::Skip;
    fn partition_key(&self) -> Option<String> {
        None
    }
}

fn contract_of<E: Event>() -> (&'static EventDescriptor, Contract) {
    let event = EventDescriptor::of::<E>(EventSource {
        key: KeySource::None,
        emitted_by: "shop",
        deprecated: None,
        retired: None,
        description: "",
        rust_path: std::any::type_name::<E>(),
        file: "src/events.rs",
        line: 7,
        fields: &[],
    });
    let event: &'static EventDescriptor = Box::leak(Box::new(event));
    (event, Contract::of(event).unwrap())
}

fn tried<E: Event>(samples: &[Value]) -> (Behaviour, Contract) {
    let (event, mut contract) = contract_of::<E>();
    let payloads = payloads_of(&contract.reads);
    let samples = samples.iter().enumerate();
    let samples =
        samples.map(|(at, payload)| Sample { name: format!("samples/{at}.json"), payload: payload.clone() });
    (Behaviour::of(event, &mut contract, payloads, samples.collect()).unwrap(), contract)
}

/// The findings about `New`, alone and where a release has `Old` in its place.
fn findings<Old: Event, New: Event>(samples: &[Value]) -> Vec<Finding> {
    let (released, (new, contract)) = (tried::<Old>(&[]).1, tried::<New>(samples));
    let mut findings = new.against(&contract, &released);
    findings.extend(new.of_its_own(&contract, &findings.iter().collect::<Vec<_>>()));
    findings
}

fn found(findings: &[Finding]) -> Vec<(&str, &str)> {
    findings.iter().map(|finding| (finding.id.as_str(), finding.pointer.as_str())).collect()
}

fn seen(value: Value) -> Value {
    json!({ "eventType": "things.seen", "eventVersion": 1, "value": value })
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum External {
    Unit,
    Newtype(u8),
    Tuple(i64, char),
    Struct { a: Option<bool>, b: f32 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Internal {
    Unit,
    Struct { when: String, more: BTreeMap<String, u64> },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "with")]
enum Adjacent {
    Unit,
    Newtype(Vec<u16>),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(u32),
    Text(String),
    Struct { x: i8 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Flattened {
    #[serde(flatten)]
    payment: Internal,
    #[serde(flatten)]
    rest: HashMap<String, Value>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tree {
    leaf: u8,
    children: Vec<Tree>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<Box<Tree>>,
}

#[test]
fn nothing_is_held_against_types_that_do_what_their_schema_says() {
    type Numbers = (u8, i16, u32, i64, u64, i128, u128, f32, f64);
    type Lists = (Vec<u8>, [i8; 3], std::collections::BTreeSet<char>, Vec<(bool, String)>);
    type Maps = (HashMap<String, i32>, BTreeMap<u16, bool>, BTreeMap<i64, Vec<u8>>);
    type Times = (std::time::Duration, std::time::SystemTime);
    type Addresses = (std::net::IpAddr, std::net::Ipv6Addr, std::net::SocketAddr, std::net::SocketAddrV6);
    type NonZero = (std::num::NonZeroU8, std::num::NonZeroI64);
    for (name, findings) in [
        ("numbers", findings::<Of<Numbers>, Of<Numbers>>(&[])),
        ("lists", findings::<Of<Lists>, Of<Lists>>(&[])),
        ("maps", findings::<Of<Maps>, Of<Maps>>(&[])),
        ("times", findings::<Of<Times>, Of<Times>>(&[])),
        ("addresses", findings::<Of<Addresses>, Of<Addresses>>(&[])),
        ("non-zero", findings::<Of<NonZero>, Of<NonZero>>(&[])),
        ("external", findings::<Of<External>, Of<External>>(&[])),
        ("internal", findings::<Of<Internal>, Of<Internal>>(&[])),
        ("adjacent", findings::<Of<Adjacent>, Of<Adjacent>>(&[])),
        ("untagged", findings::<Of<Untagged>, Of<Untagged>>(&[])),
        ("flattened", findings::<Of<Flattened>, Of<Flattened>>(&[])),
        ("tree", findings::<Of<Tree>, Of<Tree>>(&[])),
        ("option", findings::<Of<Option<External>>, Of<Option<External>>>(&[])),
        ("anything", findings::<Of<Value>, Of<Value>>(&[])),
        ("unit", findings::<Of<()>, Of<()>>(&[])),
    ] {
        assert_eq!(findings, [], "{name}");
    }
}

#[test]
fn a_variant_that_is_only_read_is_no_fault() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    enum Before {
        One,
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    enum After {
        One,
        #[serde(skip_serializing)]
        Two(#[expect(dead_code, reason = "only read")] u8),
    }
    assert_eq!(findings::<Of<Before>, Of<After>>(&[]), []);
    let (_, contract) = tried::<Of<After>>(&[]);
    assert!(contract.refuses.is_empty(), "{:?}", contract.refuses);
    assert_eq!(findings::<Of<After>, Of<After>>(&[]), []);
}

/// Is written and read as a number, and says that it is a text.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(with = "String")]
struct Lie(u32);

#[test]
fn a_schema_that_describes_another_type_is_found_with_what_serde_says() {
    let findings = findings::<Of<Lie>, Of<Lie>>(&[]);
    assert_eq!(found(&findings), [("behaviour-refuses-declared", "/value")]);
    let finding = &findings[0];
    assert!(
        finding.what.contains("`value` refuses each string made from its own schema: invalid type: string")
    );
    let Evidence::Refused(witness) = &finding.evidence else { panic!("{finding:?}") };
    assert!(witness.error.contains("expected u32") && !witness.error.contains("column"), "{witness:?}");
    assert!(witness.payload["value"].is_string() && witness.payload.get("note").is_none(), "{witness:?}");
}

#[test]
fn a_lie_in_one_variant_is_found_beside_the_others() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Contact {
        Phone { number: String },
        Seat { row: Lie },
    }
    let found_in = findings::<Of<Vec<Contact>>, Of<Vec<Contact>>>(&[]);
    let [finding] = &found_in[..] else { panic!("{found_in:?}") };
    assert_eq!(finding.id, FindingId::BehaviourRefusesDeclared);
    assert!(finding.what.contains("refuses each Seat made"), "{finding:?}");
}

/// Refuses what has no `@`; its schema takes any text.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
struct Email(String);

impl TryFrom<String> for Email {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        if text.contains('@') { Ok(Self(text)) } else { Err(format!("`{text}` is no address")) }
    }
}

impl From<Email> for String {
    fn from(email: Email) -> Self {
        email.0
    }
}

#[test]
fn a_conversion_that_refuses_a_part_is_noted_in_the_contract_and_held_against_nobody() {
    let (_, contract) = tried::<Of<Vec<Email>>>(&[]);
    assert_eq!(contract.refuses.iter().collect::<Vec<_>>(), ["/value/*"]);
    assert_eq!(Contract::parse(&contract.to_text()).unwrap(), contract);
    assert_eq!(findings::<Of<Vec<Email>>, Of<Vec<Email>>>(&[]), []);
    assert_eq!(findings::<Of<Email>, Of<Option<Email>>>(&[]), []);
}

#[test]
fn a_conversion_that_became_stricter_breaks_though_the_schemas_are_equal() {
    let findings = findings::<Of<String>, Of<Email>>(&[]);
    assert_eq!(found(&findings), [("behaviour-refuses-released", "/value")]);
    assert!(findings[0].what.contains("is no address"), "{findings:?}");
    assert!(findings[0].fix.contains("let `value` read again what it read"), "{findings:?}");
}

/// Takes the numbers of a range; its schema takes any.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "i64", into = "i64")]
struct Within<const LEAST: i64, const MOST: i64>(i64);

impl<const LEAST: i64, const MOST: i64> TryFrom<i64> for Within<LEAST, MOST> {
    type Error = String;
    fn try_from(number: i64) -> Result<Self, String> {
        if (LEAST..=MOST).contains(&number) {
            Ok(Self(number))
        } else {
            Err(format!("{number} is out of range"))
        }
    }
}

impl<const LEAST: i64, const MOST: i64> From<Within<LEAST, MOST>> for i64 {
    fn from(number: Within<LEAST, MOST>) -> Self {
        number.0
    }
}

/// Takes texts or lists of some sizes, and shares up to a percentage; no schema says so.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Sized<const LEAST: usize, const MOST: usize> {
    #[serde(deserialize_with = "text::<LEAST, MOST, _>")]
    text: String,
    #[serde(deserialize_with = "list::<LEAST, MOST, _>")]
    list: Vec<u8>,
    #[serde(deserialize_with = "share::<MOST, _>")]
    share: f64,
}

fn fitting<T, E: serde::de::Error>(fits: bool, value: T) -> Result<T, E> {
    if fits { Ok(value) } else { Err(E::custom("does not fit")) }
}

fn text<'de, const LEAST: usize, const MOST: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    fitting((LEAST..=MOST).contains(&text.chars().count()), text)
}

fn list<'de, const LEAST: usize, const MOST: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<u8>, D::Error> {
    let list = Vec::deserialize(deserializer)?;
    fitting((LEAST..=MOST).contains(&list.len()), list)
}

fn share<'de, const MOST: usize, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    let most = u32::try_from(MOST).unwrap();
    fitting((0.0..=f64::from(most) / 100.0).contains(&share), share)
}

#[test]
fn a_conversion_that_refused_some_values_may_not_begin_to_refuse_more() {
    type Old = Within<1, 100>;
    let (_, contract) = tried::<Of<Old>>(&[]);
    assert_eq!(contract.takes["/value"][..2], [json!(1), json!(100)]);
    assert_eq!(Contract::parse(&contract.to_text()).unwrap(), contract);
    let stricter = [
        findings::<Of<Old>, Of<Within<1, 50>>>(&[]),
        findings::<Of<Old>, Of<Within<1, 99>>>(&[]),
        findings::<Of<Old>, Of<Within<2, 100>>>(&[]),
    ];
    for findings in stricter {
        assert_eq!(found(&findings), [("behaviour-refuses-released", "/value")]);
        let Evidence::Refused(witness) = &findings[0].evidence else { panic!("{findings:?}") };
        assert!(witness.error.ends_with("is out of range"), "{witness:?}");
    }
    let in_a_list = findings::<Of<Vec<Option<Old>>>, Of<Vec<Option<Within<1, 99>>>>>(&[]);
    assert_eq!(found(&in_a_list), [("behaviour-refuses-released", "/value/0")]);
    for same_or_looser in [
        findings::<Of<Old>, Of<Old>>(&[]),
        findings::<Of<Old>, Of<Within<0, 101>>>(&[]),
        findings::<Of<Old>, Of<i64>>(&[]),
        findings::<Of<Vec<Option<Old>>>, Of<Vec<Option<Within<-1, 100>>>>>(&[]),
    ] {
        assert_eq!(same_or_looser, []);
    }
    // The places of a tuple share a pointer.
    type Pair<const MOST: i64> = (Within<1, MOST>, Within<-9, 9>);
    assert_eq!(findings::<Of<Pair<100>>, Of<Pair<100>>>(&[]), []);
    let in_a_tuple = findings::<Of<Pair<100>>, Of<Pair<99>>>(&[]);
    assert_eq!(found(&in_a_tuple), [("behaviour-refuses-released", "/value/0")]);
    // What the schemas say themselves is told by the three questions, and hides nothing.
    assert_eq!(
        found(&findings::<Of<Old>, Of<Option<Within<1, 99>>>>(&[])),
        [("behaviour-refuses-released", "/value")]
    );
    assert_eq!(findings::<Of<Old>, Of<String>>(&[]), []);
}

#[test]
fn a_size_or_a_share_that_was_taken_may_not_be_refused() {
    type Old = Sized<1, 20>;
    let (_, contract) = tried::<Of<Old>>(&[]);
    assert!(contract.takes["/value/share"].contains(&json!(0.2)), "{:?}", contract.takes);
    assert_eq!(findings::<Of<Old>, Of<Old>>(&[]), []);
    assert_eq!(findings::<Of<Old>, Of<Sized<0, 21>>>(&[]), []);
    let places = ["/value/list", "/value/share", "/value/text"].map(|at| ("behaviour-refuses-released", at));
    assert_eq!(found(&findings::<Of<Old>, Of<Sized<1, 19>>>(&[])), places);
    assert_eq!(found(&findings::<Of<Old>, Of<Sized<2, 20>>>(&[])), [places[0], places[2]]);
}

#[test]
fn a_text_inside_of_a_tagged_or_flattened_type_is_found() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Contact<T> {
        Phone { number: u32 },
        Email { address: T },
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Wrapped<T> {
        #[serde(flatten)]
        contact: Contact<T>,
        more: Contact<T>,
    }
    let findings = findings::<Of<Wrapped<String>>, Of<Wrapped<Email>>>(&[]);
    assert_eq!(
        found(&findings),
        [
            ("behaviour-refuses-released", "/value/address"),
            ("behaviour-refuses-released", "/value/more/address")
        ]
    );
    let (_, contract) = tried::<Of<Wrapped<Email>>>(&[]);
    assert_eq!(contract.refuses.len(), 2, "{:?}", contract.refuses);
}

/// Is written as one text, and read from it; a list by its schema.
struct Joined(Vec<String>);

impl Serialize for Joined {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.join(","))
    }
}

impl<'de> Deserialize<'de> for Joined {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for Joined {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Joined".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<String>::json_schema(generator)
    }
}

#[test]
fn what_is_written_otherwise_than_declared_is_found_and_breaks_released_readers() {
    let (behaviour, contract) = tried::<Of<Joined>>(&[]);
    let own = behaviour.of_its_own(&contract, &[]);
    assert_eq!(found(&own), [("behaviour-writes-undeclared", "/value")]);
    let findings = findings::<Of<Vec<String>>, Of<Joined>>(&[]);
    assert_eq!(found(&findings), [("behaviour-writes-unreadable", "/value")]);
    assert!(findings[0].what.contains(r#"is not of type "array""#), "{findings:?}");
}

#[test]
fn what_the_schemas_say_themselves_is_left_to_the_three_questions() {
    assert_eq!(findings::<Of<Option<String>>, Of<String>>(&[]), []);
    assert_eq!(findings::<Of<String>, Of<u8>>(&[]), []);
    assert_eq!(findings::<Of<u64>, Of<u8>>(&[]), []);
}

#[test]
fn several_places_are_told_at_once() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Parts<T> {
        a: T,
        email: Option<T>,
        list: Vec<T>,
        z: T,
    }
    let findings = findings::<Of<Parts<String>>, Of<Parts<Email>>>(&[]);
    let places: Vec<&str> = findings.iter().map(|finding| &*finding.pointer).collect();
    assert_eq!(places, ["/value/a", "/value/email", "/value/list/0", "/value/z"]);
}

/// Reads one text that nobody would guess.
#[derive(JsonSchema)]
#[schemars(transparent)]
struct Secret(#[expect(dead_code, reason = "only read")] String);

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("xyzzy")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "xyzzy" { Ok(Self(text)) } else { Err(D::Error::custom("not the word")) }
    }
}

#[test]
fn a_sample_shows_what_no_schema_says() {
    let alone = findings::<Of<Secret>, Of<Secret>>(&[]);
    assert_eq!(found(&alone), [("behaviour-refuses-declared", "/value")]);
    assert!(alone[0].fix.contains("schemas/things.seen/samples/"), "{alone:?}");
    let (behaviour, contract) = tried::<Of<Secret>>(&[seen(json!("xyzzy"))]);
    assert_eq!(behaviour.of_its_own(&contract, &[]), []);
    assert_eq!(contract.refuses.iter().collect::<Vec<_>>(), ["/value"]);
}

#[test]
fn a_sample_changes_nothing_in_a_contract_that_was_made_without_it() {
    let (_, before) = tried::<Of<Email>>(&[]);
    let (_, after) = tried::<Of<Email>>(&[seen(json!("bob@acme.org"))]);
    assert!(!before.takes.is_empty());
    assert_eq!(before, after);
}

#[test]
fn a_sample_that_is_refused_is_named() {
    let findings = findings::<Of<u8>, Of<u8>>(&[seen(json!(1)), seen(json!(256))]);
    assert_eq!(found(&findings), [("sample-refused", "/value")]);
    assert!(
        findings[0].what.contains("samples/1.json can't be read: invalid value: integer `256`"),
        "{findings:?}"
    );
}

#[test]
fn a_reader_that_panics_is_a_finding() {
    #[derive(Serialize, JsonSchema)]
    struct Panics(String);
    impl<'de> Deserialize<'de> for Panics {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            assert!(text.len() == 1, "a letter, please");
            Ok(Self(text))
        }
    }
    let findings = findings::<Of<String>, Of<Panics>>(&[]);
    assert_eq!(found(&findings), [("behaviour-refuses-released", "/value")]);
    assert!(findings[0].what.contains("it panics: a letter, please"), "{findings:?}");
}
