//! Types that do something else than their schema says, and recorded payloads.

use super::{Project, VERSION_1, line_of};

/// A coupon code: its schema says "any text", its conversion asks for capital letters and digits.
const CODE: &str = r#"
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Code(String);

impl TryFrom<String> for Code {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let is_code = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        if is_code { Ok(Self(text)) } else { Err(format!("`{text}` is no code")) }
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.0
    }
}
"#;

/// Reads a number and writes a text.
const CENTS: &str = r#"
mod cents {
    use serde::{Deserialize, Deserializer, Serializer};
    pub fn serialize<S: Serializer>(cents: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(cents)
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        u64::deserialize(deserializer)
    }
}
"#;

fn with_code() -> String {
    VERSION_1.replace("Option<String>", "Option<Code>") + CODE
}

#[test]
fn a_conversion_is_noted_when_it_is_released_and_samples_are_read_with_it() {
    let project = Project::new();
    project.write("events/src/lib.rs", &with_code());
    project.xtask(&["schema-accept"]).says(0, &["new: "]);
    assert!(project.read("schemas/orders.placed/v1.json").contains("\"refuses\": [\n    \"/coupon\"\n  ]"));
    project.release("v0.1.0");
    let sample = "schemas/orders.placed/samples/first.json";
    project.write(
        sample,
        "\u{feff}{\"eventVersion\":1,\r\n\"order_id\":\"7\",\"total_cents\":5,\"coupon\":\"SAVE10\"}",
    );
    project.xtask(&["schema-check"]).says(0, &["passed"]);

    project.write(sample, r#"{"eventVersion":1,"order_id":"7","total_cents":5,"coupon":"ten % off"}"#);
    project.xtask(&["schema-check"]).says(
        1,
        &[
            "the recorded orders.placed/samples/first.json can't be read: `ten % off` is no code [sample-refused]",
            r#""coupon":"ten % off""#,
            "pointer  /coupon",
            &line_of(&with_code(), "pub coupon"),
        ],
    );
    project.write(sample, r#"{"eventVersion":7}"#);
    let stray = "the recorded orders.placed/samples/first.json is of a version that no event declares";
    project.xtask(&["schema-check"]).says(1, &["orders.placed version 7", stray, "mend the `eventVersion`"]);
    for (text, reason) in [
        ("{", "EOF while parsing"),
        ("[]", "it is no JSON object"),
        ("{}", "no `eventVersion`"),
        (r#"{"eventType":"orders.paid","eventVersion":1}"#, "it lies in the folder of `orders.placed`"),
    ] {
        project.write(sample, text);
        let outcome = project.xtask(&["schema-check"]);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        for part in [sample, reason, "mend the file or delete it"] {
            assert!(outcome.err.contains(part), "`{part}` is missing in: {}", outcome.err);
        }
    }
}

#[test]
fn what_no_schema_shows_is_found_with_a_payload_and_the_words_of_serde() {
    let project = Project::released();
    let events = with_code().replace(
        "    pub total_cents",
        "    #[serde(with = \"cents\")]\n    #[schemars(with = \"u64\")]\n    pub total_cents",
    ) + CENTS;
    project.change(&events).says(
        1,
        &[
            "`coupon` refuses values that it took when it was released: ",
            "is no code [behaviour-refuses-released]",
            "let `coupon` read again what it read",
            &line_of(&events, "pub coupon"),
            "`total_cents` is written in a way that its schema does not say: \"42\" is not of type \"integer\" \
             [behaviour-writes-unreadable]",
            r#""total_cents":"42""#,
            &line_of(&events, "pub total_cents"),
            "failed: 2 breaking",
        ],
    );
}

#[test]
fn a_schema_that_panics_names_its_event() {
    let project = Project::new();
    let panics = r#"
#[derive(Serialize, Deserialize)]
pub struct Odd(u8);
impl JsonSchema for Odd {
    fn schema_name() -> std::borrow::Cow<'static, str> { "Odd".into() }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema { panic!("no schema today") }
}
"#;
    project.write("events/src/lib.rs", &(VERSION_1.replace("u64", "Odd") + panics));
    let outcome = project.xtask(&["schema-check"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    let line = line_of(VERSION_1, "struct OrderPlaced");
    for part in [&*line, "shop_events::OrderPlaced", "panics: no schema today"] {
        assert!(outcome.err.contains(part), "`{part}` is missing in: {}", outcome.err);
    }
}
