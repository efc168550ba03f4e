//! `schema-accept`: what it writes, and what it refuses to write.

use super::{BROKEN, GROWN, RELEASED, Shop};

const ORDERS: &str = "schemas/orders.placed/v1.json";
const CUSTOMERS: &str = "schemas/customers.moved/v1.json";

#[test]
fn additive_changes_are_written_and_the_check_passes() {
    let shop = Shop::released("v0.1.0");
    let accepted = shop.run(GROWN, &["schema-accept"]);
    accepted.says(0, &["changed: schemas/customers.moved/v1.json\nchanged: schemas/orders.placed/v1.json\n"]);
    shop.run(GROWN, &["schema-accept"]).says(0, &["nothing changed\n"]);
    shop.run(GROWN, &["schema-check"]).says(0, &["with v0.1.0 (", "passed"]);
}

#[test]
fn a_change_that_breaks_a_release_is_refused_and_nothing_at_all_is_written() {
    let shop = Shop::released("v0.1.0");
    let before = [shop.read(ORDERS), shop.read(CUSTOMERS)];
    let refused = shop.run(BROKEN, &["schema-accept"]);
    refused.says(
        1,
        &[
            "field `total_cents` was removed [released-reader-refuses]",
            "with v0.1.0 (",
            "nothing was written: a released version can't change in place",
        ],
    );
    assert_eq!([shop.read(ORDERS), shop.read(CUSTOMERS)], before);
    let check = shop.run(BROKEN, &["schema-check"]);
    check.says(
        1,
        &["[released-reader-refuses]", "schemas/customers.moved/v1.json is not the contract of the code"],
    );
}

#[test]
fn what_was_never_released_may_change_in_any_way() {
    let shop = Shop::in_repository();
    shop.run(RELEASED, &["schema-accept"]).says(0, &["new: "]);
    shop.commit("not released");
    shop.run(BROKEN, &["schema-accept"]).says(0, &["changed: schemas/orders.placed/v1.json"]);
    shop.run(BROKEN, &["schema-check"]).says(0, &["passed"]);
}

#[test]
fn a_committed_contract_that_cannot_be_used_stops_both_commands_and_stays_as_it_is() {
    let shop = Shop::released("v0.1.0");
    let whole = shop.read(ORDERS);
    let fix = "restore it with `git checkout -- schemas/orders.placed/v1.json`, or delete it";
    for (spoiled, parts) in [
        (whole.replacen("\"orders\"", "\"orderz\"", 1), ["changed by hand", fix]),
        (whole[..whole.len() / 2].to_owned(), ["cut off", fix]),
        (whole.replacen("\"topic\"", "\"topic\": \"a\", \"topic\"", 1), ["`topic` stands twice", fix]),
        (whole.replacen("\"format\": 1", "\"format\": 99", 1), ["format 99", "update the crate `outbox`"]),
        (whole.replacen("\"topic\"", "\n<<<<<<< HEAD\n\"topic\"", 1), ["conflict marks", fix]),
        (whole.replace("\"type\": \"string\"", "\"$ref\": \"https://a.b/c\""), ["https://a.b/c", fix]),
        (whole.replace("\"type\": \"string\"", "\"pattern\": \"(\""), ["pattern `(`", fix]),
    ] {
        assert_ne!(spoiled, whole, "{parts:?}");
        shop.write(ORDERS, &spoiled);
        for args in [&["schema-check"][..], &["schema-accept"]] {
            shop.run(GROWN, args).fails_in_one_line(&["schemas/orders.placed/v1.json: ", parts[0], parts[1]]);
        }
        assert_eq!(shop.read(ORDERS), spoiled);
        assert!(!shop.read(CUSTOMERS).contains("postcode"), "nothing else was written either");
    }
    std::fs::remove_file(shop.path(ORDERS)).unwrap();
    shop.run(RELEASED, &["schema-accept"]).says(0, &["new: schemas/orders.placed/v1.json"]);
    assert_eq!(shop.read(ORDERS), whole);
}

#[test]
fn a_released_contract_that_cannot_be_used_is_named_with_its_tag() {
    let shop = Shop::released("v0.1.0");
    let whole = shop.read(ORDERS);
    shop.write(ORDERS, &whole[..100]);
    shop.commit("spoiled");
    shop.git(&["tag", "v0.2.0"]);
    shop.write(ORDERS, &whole);
    shop.run(RELEASED, &["schema-check"]).fails_in_one_line(&[
        "v0.2.0:schemas/orders.placed/v1.json: ",
        "cut off",
        "name another baseline with `--baseline`",
    ]);
}

#[test]
fn line_ends_and_byte_order_marks_are_no_change() {
    let shop = Shop::released("v0.1.0");
    for path in [ORDERS, CUSTOMERS] {
        let text = shop.read(path);
        shop.write(path, &format!("\u{feff}{}", text.trim_end().replace('\n', "\r\n")));
    }
    let before = [shop.read(ORDERS), shop.read(CUSTOMERS)];
    shop.run(RELEASED, &["schema-check"]).says(0, &["passed"]);
    shop.run(RELEASED, &["schema-accept"]).says(0, &["nothing changed\n"]);
    assert_eq!([shop.read(ORDERS), shop.read(CUSTOMERS)], before);
    // As a release it is read as well.
    shop.commit("CRLF");
    shop.git(&["tag", "v0.2.0"]);
    shop.run(GROWN, &["schema-accept"]).says(0, &["changed: "]);
    shop.run(GROWN, &["schema-check"]).says(0, &["with v0.2.0 (", "passed"]);
}

#[test]
fn what_is_written_depends_on_no_path_language_or_time_zone() {
    let written = [("C", "UTC"), ("tr_TR.UTF-8", "Pacific/Kiritimati")].map(|(language, zone)| {
        let shop = Shop::bare();
        for args in [&["schema-accept"][..], &["catalog"]] {
            let mut command = super::command(shop.folder.path(), RELEASED, args);
            command.env("LC_ALL", language).env("TZ", zone);
            super::Outcome::of(&command.output().unwrap()).says(0, &[]);
        }
        [ORDERS, CUSTOMERS, "docs/catalog.md"].map(|path| shop.read(path))
    });
    assert_eq!(written[0], written[1]);
}

#[test]
fn a_folder_of_schemas_elsewhere_is_taken() {
    let shop = Shop::in_repository();
    let args = ["--schemas", "contracts/shop/kept"];
    shop.run(RELEASED, &[&["schema-accept"], &args[..]].concat()).says(0, &["new: contracts/shop/kept/"]);
    shop.commit("released");
    shop.git(&["tag", "v0.1.0"]);
    shop.run(BROKEN, &[&["schema-check"], &args[..]].concat())
        .says(1, &["with v0.1.0 (", "[released-reader-"]);
}
