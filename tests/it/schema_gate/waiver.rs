//! `schemas/waivers.toml`: a change that is let through, and for how long.

use super::{BROKEN, Outcome, RELEASED, Shop};
use serde_json::Value;

const FILE: &str = "schemas/waivers.toml";
const CONTRACT: &str = "schemas/orders.placed/v1.json";

/// The block that the check printed, with a reason.
fn block(printed: &Outcome) -> String {
    let from = printed.out.find("# orders.placed version 1: ").unwrap();
    let block = &printed.out[from..printed.out.rfind("\n\nfailed: ").unwrap()];
    block.replace("reason = \"\"", "reason = \"billing reads the total from its own table\"")
}

/// The shop after its first release, and the waiver of what breaks since.
fn waived() -> (Shop, String) {
    let shop = Shop::released("v0.1.0");
    shop.git(&["config", "user.email", "ada@example.com"]);
    let printed = on(&shop, BROKEN, "schema-check", "2027-01-01");
    printed
        .says(1, &["put into schemas/waivers.toml", "owner = \"ada@example.com\"", "expires = 2027-04-01"]);
    let block = block(&printed);
    shop.write(FILE, &block);
    (shop, block)
}

fn on(shop: &Shop, xtask: &str, command: &str, day: &str) -> Outcome {
    shop.run(xtask, &[command, "--today", day])
}

#[test]
fn the_printed_block_with_a_reason_lets_the_change_through_until_it_is_released() {
    let (shop, _) = waived();
    on(&shop, BROKEN, "schema-accept", "2027-04-01").says(0, &["changed: schemas/orders.placed/v1.json"]);
    on(&shop, BROKEN, "schema-check", "2027-04-01").says(
        0,
        &[
            "waived: orders.placed version 1: field `total_cents` was removed [released-reader-refuses]",
            "by ada@example.com until 2027-04-01: billing reads the total from its own table",
            "\npassed: 1 waived\n",
        ],
    );
    let kept: Value = serde_json::from_str(&shop.read(CONTRACT)).unwrap();
    assert_eq!(kept["reserved"]["/total_cents"]["type"], "integer", "no other field may take the name");
    shop.commit("0.2.0");
    shop.git(&["tag", "v0.2.0"]);
    let unused = on(&shop, BROKEN, "schema-check", "2027-01-02");
    unused.says(1, &["[waiver-unused]", "schemas/waivers.toml:2", "delete it"]);
    // In comparison with something else it may well have nothing to do.
    shop.run(BROKEN, &["schema-check", "--baseline", "v0.2.0", "--today", "2027-01-02"]).says(0, &["passed"]);
    std::fs::remove_file(shop.path(FILE)).unwrap();
    on(&shop, BROKEN, "schema-check", "2027-01-02").says(0, &["with v0.2.0 (", "passed"]);
    on(&shop, BROKEN, "schema-accept", "2027-01-02").says(0, &["nothing changed"]);
}

#[test]
fn an_expired_waiver_lets_nothing_through() {
    let (shop, _) = waived();
    let before = shop.read(CONTRACT);
    on(&shop, BROKEN, "schema-accept", "2027-04-02").says(1, &["nothing was written"]);
    assert_eq!(shop.read(CONTRACT), before);
    let expired = on(&shop, BROKEN, "schema-check", "2027-04-02");
    expired.says(1, &["[waiver-expired]", "ran out on 2027-04-01", "[released-reader-refuses]"]);
}

#[test]
fn a_waiver_without_reason_or_without_a_change_fails() {
    let (shop, block) = waived();
    shop.write(FILE, &block.replace("billing reads the total from its own table", ""));
    on(&shop, BROKEN, "schema-check", "2027-01-02").says(1, &["[waiver-without-reason]", "1 waived"]);
    shop.write(FILE, &block);
    on(&shop, RELEASED, "schema-check", "2027-01-02").says(1, &["[waiver-unused]"]);
}

#[test]
fn a_file_that_is_not_understood_stops_both_commands() {
    let (shop, block) = waived();
    for (old, new, parts) in [
        ("reason", "because", ["schemas/waivers.toml:4: ", "unknown field `because`"]),
        ("[[waiver]]", "[[waiver", ["schemas/waivers.toml:2: ", ""]),
        ("expires = 2027-04-01", "expires = \"soon\"", ["schemas/waivers.toml:6: ", "`soon` is no day"]),
    ] {
        shop.write(FILE, &block.replacen(old, new, 1));
        for command in ["schema-check", "schema-accept"] {
            on(&shop, BROKEN, command, "2027-01-02").fails_in_one_line(&parts);
        }
    }
}

#[test]
fn a_waiver_file_with_other_line_ends_is_the_same() {
    let (shop, block) = waived();
    shop.write(FILE, &format!("\u{feff}{}", block.trim_end().replace('\n', "\r\n")));
    on(&shop, BROKEN, "schema-accept", "2027-01-02").says(0, &["changed: "]);
    on(&shop, BROKEN, "schema-check", "2027-01-02").says(0, &["passed: 1 waived"]);
}
