//! What types of every form ask for.

use super::*;
use crate::{OnPoison, OrderingMode};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Of<T> {
    value: T,
}

impl<T: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static> Event for Of<T> {
    const TYPE: &'static str = "test.asked";
    const VERSION: u32 = 1;
    const TOPIC: &'static str = "test";
    const ORDERING: OrderingMode = OrderingMode::Unordered;
    const ON_POISON: OnPoison = OnPoison::Skip;
    fn partition_key(&self) -> Option<String> {
        None
    }
}

fn asked_at<T>(value: Value) -> Vec<(String, Vec<&'static str>)>
where
    T: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static,
{
    let asked = asked::<Of<T>>(&json!({ "value": value }));
    let told = asked.into_iter().map(|asked| match asked.about {
        About::Place(pointer) => (pointer, asked.names.to_vec()),
        About::Name(name) => (format!("not {name}"), asked.names.to_vec()),
    });
    told.skip(1).collect()
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Line {
    #[serde(alias = "article")]
    sku: String,
    kind: Option<Kind>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Kind {
    #[serde(alias = "Thing")]
    Good,
    Service {
        #[serde(alias = "length")]
        hours: u8,
    },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by")]
enum Payment {
    #[serde(alias = "Money")]
    Cash,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Any {
    Payment(Payment),
    Line(Line),
}

#[test]
fn fields_and_variants_come_with_their_aliases_and_their_place() {
    let value =
        json!([{ "sku": "a", "kind": { "Service": { "hours": 1 } } }, { "sku": "b", "kind": "Good" }]);
    let kinds = vec!["Good", "Thing", "Service"];
    assert_eq!(
        asked_at::<Vec<Line>>(value),
        [
            ("/value/0".to_owned(), vec!["article", "sku", "kind"]),
            ("/value/0/kind".to_owned(), kinds.clone()),
            ("/value/0/kind/Service".to_owned(), vec!["hours", "length"]),
            ("/value/1".to_owned(), vec!["article", "sku", "kind"]),
            ("/value/1/kind".to_owned(), kinds),
        ]
    );
}

#[test]
fn from_a_buffer_a_name_that_nobody_knows_brings_the_others() {
    let told = [("not Shells".to_owned(), vec!["Cash", "Money"])];
    assert_eq!(asked_at::<Payment>(json!({ "by": "Shells" })), told);
    assert_eq!(asked_at::<Any>(json!({ "by": "Shells" })), told);
}

#[test]
fn keys_of_maps_are_read_as_what_they_stand_for() {
    type Maps = (BTreeMap<u8, Line>, BTreeMap<bool, Line>, BTreeMap<String, Line>, BTreeMap<i128, Line>);
    let line = json!({ "sku": "a" });
    let value = json!([{ "7": line }, { "true": line }, { "a/b": line }, { "-170141183460469231731687303715884105728": line }]);
    let places: BTreeSet<String> = asked_at::<Maps>(value).into_iter().map(|(place, _)| place).collect();
    let wanted =
        ["/value/0/7", "/value/1/true", "/value/2/a~1b", "/value/3/-170141183460469231731687303715884105728"];
    assert_eq!(places.iter().map(String::as_str).collect::<Vec<_>>(), wanted);
}
