//! Types with open and closed enums, found as what they are, and compared so.

use super::*;
use crate::compat::{FindingId, check, contract_of};
use crate::{Event, EventSource, KeySource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! event {
    ($(#[$attribute:meta])* struct $name:ident { $($field:ident: $kind:ty,)* }) => {
        $(#[$attribute])*
        #[derive(Serialize, Deserialize, JsonSchema)]
        struct $name { $($field: $kind,)* }

        impl Event for $name {
            const TYPE: &'static str = "test.open";
            const VERSION: u32 = 1;
            const TOPIC: &'static str = "test";
            const ORDERING: crate::OrderingMode = crate::OrderingMode::Unordered;
            const ON_POISON: crate::OnPoison = crate::OnPoison::Skip;

            fn partition_key(&self) -> Option<String> {
                None
            }
        }
    };
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Colour {
    Red,
    #[serde(other)]
    Unknown,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Size {
    Small,
    Large,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Payment {
    Card {
        digits: String,
    },
    #[serde(other)]
    Other,
}

event! { struct Old { colours: Vec<Colour>, size: Option<Size>, payment: Payment, by_name: BTreeMap<String, Colour>, } }

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum WiderPayment {
    Card {
        digits: String,
    },
    Transfer {
        iban: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum WiderColour {
    Red,
    Blue,
    #[serde(other)]
    Unknown,
}

event! {
    struct New { colours: Vec<WiderColour>, size: Option<Size>, payment: WiderPayment, by_name: BTreeMap<String, Colour>, }
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum ClosedColour {
    Red,
    Unknown,
}

event! {
    struct Closed { colours: Vec<ClosedColour>, size: Option<Size>, payment: Payment, by_name: BTreeMap<String, Colour>, }
}

fn contract<E: Event>() -> Contract {
    let source = EventSource {
        key: KeySource::None,
        emitted_by: "",
        deprecated: None,
        retired: None,
        description: "",
        rust_path: "",
        file: "",
        line: 1,
        fields: &[],
    };
    let event = EventDescriptor::of::<E>(source);
    contract_of(&event).unwrap()
}

#[test]
fn open_enums_are_found_wherever_they_stand() {
    let places: Vec<String> = contract::<Old>().open.into_iter().collect();
    assert_eq!(places, ["/by_name/*", "/colours/*", "/payment/kind"]);
}

#[test]
fn a_new_value_of_an_open_enum_breaks_nobody_and_one_of_a_closed_enum_does() {
    assert_eq!(check(&contract::<Old>(), &contract::<New>(), None), []);
    let closed = Contract { open: BTreeSet::new(), ..contract::<Old>() };
    let findings = check(&closed, &contract::<New>(), None);
    let found: Vec<_> = findings.iter().map(|finding| (finding.id, &*finding.pointer)).collect();
    let refuses = FindingId::ReleasedReaderRefuses;
    assert_eq!(found, [(refuses, "/colours/0"), (refuses, "/payment/kind")]);
}

#[test]
fn an_enum_that_is_closed_later_refuses_what_was_read() {
    let findings = check(&contract::<Old>(), &contract::<Closed>(), None);
    let ids: Vec<FindingId> = findings.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, [FindingId::ReaderNarrowed]);
    assert_eq!(findings[0].pointer, "/colours/0");
}

#[test]
fn a_variant_that_gains_content_is_no_unknown_name() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    enum Grown {
        Red(u8),
        #[serde(other)]
        Unknown,
    }
    event! {
        struct Later { colours: Vec<Grown>, size: Option<Size>, payment: Payment, by_name: BTreeMap<String, Colour>, }
    }
    let findings = check(&contract::<Old>(), &contract::<Later>(), None);
    assert!(findings.iter().any(|finding| finding.id == FindingId::ReaderRefusesReleased), "{findings:?}");
}
