//! `schema-diff`: what changed between two releases.

use super::{BROKEN, GROWN, RELEASED, Shop};

#[test]
fn changes_are_told_by_event_and_as_text_for_the_changelog() {
    let shop = Shop::released("v0.1.0");
    shop.run(RELEASED, &["schema-diff"]).says(0, &["nothing changed from v0.1.0 (", ") to the code\n"]);
    let grown = shop.run(GROWN, &["schema-diff", "v0.1.0"]);
    grown.says(
        0,
        &[
            "from v0.1.0 (",
            ") to the code\n\ncustomers.moved version 1: changed\n  field `address.postcode` was added\n\n\
             orders.placed version 1: changed\n  field `note` was added\n\nfor the CHANGELOG:\n\n### Changed\n\
             - `customers.moved` version 1: field `address.postcode` was added.\n\
             - `orders.placed` version 1: field `note` was added.\n",
        ],
    );
    let broken = shop.run(BROKEN, &["schema-diff"]);
    broken.says(
        0,
        &[
            "  breaking: field `total_cents` was removed [released-reader-refuses]\n",
            "- **Breaking:** `orders.placed` version 1: field `total_cents` was removed.\n",
        ],
    );
}

#[test]
fn two_tags_commits_or_folders_are_compared_and_versions_come_and_go() {
    let shop = Shop::released("v0.1.0");
    std::fs::remove_dir_all(shop.path("schemas/customers.moved")).unwrap();
    shop.run(GROWN, &["schema-accept"]).says(0, &["new: "]);
    std::fs::remove_dir_all(shop.path("schemas/customers.moved")).unwrap();
    shop.commit("0.2.0");
    shop.git(&["tag", "v0.2.0"]);
    let forth = shop.run(RELEASED, &["schema-diff", "v0.1.0", "HEAD", "--changelog"]);
    forth.says(0, &["- `orders.placed` version 1: field `note` was added.\n"]);
    assert!(forth.out.starts_with("### Changed\n"), "{}", forth.out);
    assert!(
        forth.out.ends_with("\n### Removed\n- **Breaking:** event `customers.moved` version 1.\n"),
        "{}",
        forth.out
    );
    let back = shop.run(RELEASED, &["schema-diff", "schemas", "v0.1.0"]);
    back.says(
        0,
        &[
            "customers.moved version 1: new, on topic customers\n",
            "breaking: field `note` was removed [field-removed]\n",
            "### Added\n- Event `customers.moved` version 1, on topic `customers`.\n",
        ],
    );
}

#[test]
fn without_a_release_two_sides_have_to_be_named() {
    let shop = Shop::in_repository();
    shop.run(RELEASED, &["schema-diff"])
        .fails_in_one_line(&["no release tag", "name a tag, a commit or a folder"]);
    shop.run(RELEASED, &["schema-diff", "v1.0.0"]).fails_in_one_line(&["no tag, commit or folder `v1.0.0`"]);
}
