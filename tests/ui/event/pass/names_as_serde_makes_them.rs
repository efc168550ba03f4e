// What the descriptor says of names is compared with what serde does, for each case rule.

#![allow(non_snake_case)]

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! event_in_case {
    ($name:ident, $case:literal, $case_type:literal) => {
        #[derive(Default, Event, Serialize, Deserialize, JsonSchema)]
        #[event(type = $case_type, version = 1, topic = "cases", unordered)]
        #[serde(rename_all = $case)]
        struct $name {
            plain: u8,
            two_words: u8,
            _led_by_a_line: u8,
            number_2nd: u8,
            double__line: u8,
        }

        impl $name {
            fn check() {
                let written = serde_json::to_value(Self::default()).unwrap();
                let mut by_serde: Vec<&str> =
                    written.as_object().unwrap().keys().map(String::as_str).collect();
                let catalog = outbox::Catalog::collect().unwrap();
                let event = catalog
                    .events()
                    .iter()
                    .find(|event| event.rust_path.ends_with(stringify!($name)))
                    .unwrap();
                let mut by_us: Vec<&str> = event.fields.iter().filter_map(|field| field.writes).collect();
                by_serde.sort_unstable();
                by_us.sort_unstable();
                assert_eq!(by_serde, by_us, "{}", $case);
            }
        }
    };
}

event_in_case!(Lower, "lowercase", "cases.lower");
event_in_case!(Upper, "UPPERCASE", "cases.upper");
event_in_case!(Pascal, "PascalCase", "cases.pascal");
event_in_case!(Camel, "camelCase", "cases.camel");
event_in_case!(Snake, "snake_case", "cases.snake");
event_in_case!(Screaming, "SCREAMING_SNAKE_CASE", "cases.screaming");
event_in_case!(Kebab, "kebab-case", "cases.kebab");
event_in_case!(Cobol, "SCREAMING-KEBAB-CASE", "cases.cobol");

fn main() {
    Lower::check();
    Upper::check();
    Pascal::check();
    Camel::check();
    Snake::check();
    Screaming::check();
    Kebab::check();
    Cobol::check();
}
