//! An old version on its way out: what the catalog says of it, and from when on it may be deleted.

use super::{Project, VERSION_1, VERSION_2};

/// The ways between both versions.
const CONVERSIONS: &str = r#"
impl From<OrderPlaced> for OrderPlacedV2 {
    fn from(old: OrderPlaced) -> Self {
        Self { order_id: old.order_id, total: format!("{} ct", old.total_cents) }
    }
}

impl From<&OrderPlacedV2> for OrderPlaced {
    fn from(new: &OrderPlacedV2) -> Self {
        Self { order_id: new.order_id.clone(), total_cents: 0, coupon: None }
    }
}
"#;

fn header() -> &'static str {
    &VERSION_1[..VERSION_1.find("/// An order").unwrap()]
}

fn retired(day: &str) -> String {
    VERSION_1.replace("topic = \"orders\"", &format!("topic = \"orders\", retired = \"{day}\""))
}

#[test]
fn a_version_may_be_deleted_after_the_day_that_a_release_announced() {
    let project = Project::released();
    let both = |day: &str| format!("{}{VERSION_2}", retired(day));
    project.change(&both("2031-03-31")).says(0, &["passed"]);
    project.release("v0.2.0");
    assert!(project.read("schemas/orders.placed/v1.json").contains("\"retired\": \"2031-03-31\""));
    project.change(&both("2030-01-31")).says(0, &["[retired-earlier]", "2031-03-31 was announced"]);
    project.change(&both("2032-01-31")).says(0, &["passed"]);

    project.write("events/src/lib.rs", &format!("{}{VERSION_2}", header()));
    let on = |day: &str| project.xtask(&["schema-check", "--today", day]);
    on("2031-03-31").says(1, &["[version-removed]", "to be kept through 2031-03-31"]);
    on("2031-04-01").says(0, &["[version-retired]", "it was retired on 2031-03-31"]);
}

#[test]
fn the_catalog_says_of_an_old_version_when_it_can_go() {
    let project = Project::new();
    let page = |source: String| {
        project.write("events/src/lib.rs", &source);
        project.xtask(&["catalog"]).says(0, &["wrote docs/catalog.md"]);
        project.read("docs/catalog.md")
    };
    let pair = VERSION_2.replace(
        "topic = \"orders\"",
        "topic = \"orders\", upcast_from = OrderPlaced, also_as = OrderPlaced",
    );

    let during = page(format!("{}{pair}{CONVERSIONS}", retired("2031-03-31")));
    for part in [
        "| 2 | live; made from version 1 too | none | none | it is the newest |",
        "| 1 | retired on 2031-03-31; written with each version 2 | none | none | not yet: version 2 is written as it too |",
        "**Retired** on 2031-03-31",
    ] {
        assert!(during.contains(part), "`{part}` is missing in:\n{during}");
    }
}
