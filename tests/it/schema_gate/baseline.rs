//! Which release `schema-check` compares with, in every kind of repository, and what it says where that can't be told.

use super::{BROKEN, GROWN, Outcome, RELEASED, Shop, command, run_in};
use std::path::Path;

/// Versions 0.1.0 and 0.2.0 of the shop are released, the last by an annotated tag.
fn released_twice() -> Shop {
    let shop = Shop::released("v0.1.0");
    shop.run(GROWN, &["schema-accept"]).says(0, &["changed: schemas/orders.placed/v1.json"]);
    shop.commit("0.2.0");
    shop.git(&["tag", "--annotate", "--message", "Second release", "v0.2.0"]);
    shop
}

/// A clone of the shop in a folder of its own.
fn clone(shop: &Shop, options: &[&str]) -> Shop {
    let clone = Shop::bare();
    std::fs::remove_file(clone.path("Cargo.lock")).unwrap();
    let url = format!("file://{}", shop.folder.path().display());
    clone.git(&[&["clone", "--quiet"], options, &[&url, "."]].concat());
    clone
}

fn check(folder: &Path) -> Outcome {
    run_in(folder, GROWN, &["schema-check"])
}

#[test]
fn before_the_first_release_the_check_passes_and_says_what_it_did_not_compare() {
    let shop = Shop::in_repository();
    shop.run(RELEASED, &["schema-accept"]).says(0, &["new: schemas/orders.placed/v1.json"]);
    shop.run(RELEASED, &["schema-check"])
        .says(0, &["no release tag such as v1.2.0 is there", "checked only"]);
    shop.commit("not released");
    shop.git(&["tag", "v0.1.0-rc.1"]);
    shop.run(RELEASED, &["schema-check"]).says(0, &["no release tag such as v1.2.0 is there"]);
    shop.run(GROWN, &["schema-check"]).says(1, &["[contract-stale]"]);
}

#[test]
fn the_last_release_is_the_highest_version_also_of_an_annotated_tag() {
    let shop = released_twice();
    check(shop.folder.path()).says(0, &["with v0.2.0 (", "passed"]);
    shop.git(&["tag", "v0.10.0", "HEAD~1"]);
    check(shop.folder.path()).says(0, &["with v0.10.0 ("]);
    shop.git(&["checkout", "--quiet", "--detach", "HEAD~1"]);
    run_in(shop.folder.path(), RELEASED, &["schema-check"]).says(0, &["with v0.10.0 ("]);
    for (named, shown) in [("v0.1.0", "v0.1.0 ("), ("HEAD", "HEAD ("), ("schemas", "schemas")] {
        shop.run(RELEASED, &["schema-check", "--baseline", named]).says(0, &[&format!("with {shown}")]);
    }
}

#[test]
fn a_clone_that_may_hide_the_last_release_is_an_error_that_names_the_command() {
    let shop = released_twice();
    shop.commit("later");
    for options in [&["--depth", "1"][..], &["--depth", "1", "--no-tags"], &["--depth", "2"]] {
        let shallow = clone(&shop, options);
        let outcome = check(shallow.folder.path());
        outcome.fails_in_one_line(&["shallow", "`git fetch --unshallow --tags`", "`fetch-depth: 0`"]);
        shallow.run(BROKEN, &["schema-accept"]).fails_in_one_line(&["shallow"]);
        shallow.git(&["fetch", "--quiet", "--unshallow", "--tags"]);
        check(shallow.folder.path()).says(0, &["with v0.2.0 ("]);
    }
    let untagged = clone(&shop, &["--no-tags"]);
    check(untagged.folder.path()).fails_in_one_line(&["without tags", "`git fetch --tags`"]);
    untagged.git(&["fetch", "--quiet", "--tags"]);
    check(untagged.folder.path()).says(0, &["with v0.2.0 ("]);
}

#[test]
fn a_partial_clone_fetches_the_contracts_or_names_the_command() {
    let shop = released_twice();
    shop.git(&["config", "uploadpack.allowFilter", "true"]);
    shop.write("later", "");
    shop.commit("later");
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let partial = clone(&shop, &[filter]);
        run_in(partial.folder.path(), GROWN, &["schema-check", "--baseline", "v0.1.0"])
            .says(0, &["with v0.1.0 ("]);
    }
    let offline = clone(&shop, &["--filter=blob:none"]);
    offline.git(&["remote", "set-url", "origin", "file:///nowhere"]);
    run_in(offline.folder.path(), GROWN, &["schema-check", "--baseline", "v0.1.0"])
        .fails_in_one_line(&["could not fetch", "`git fetch --refetch --no-filter`"]);
}

#[test]
fn a_release_outside_of_the_history_of_head_is_an_error() {
    let shop = released_twice();
    shop.git(&["checkout", "--quiet", "--orphan", "other"]);
    shop.commit("a new beginning");
    check(shop.folder.path())
        .fails_in_one_line(&["`v0.2.0` is not in the history of HEAD", "--baseline v0.2.0"]);
}

#[test]
fn of_the_releases_of_several_packages_the_prefix_chooses() {
    let shop = Shop::released("orders-v1.2.3");
    check_with(&shop, RELEASED, &[]).says(0, &["with orders-v1.2.3 ("]);
    shop.git(&["tag", "billing-v2.0.0"]);
    check_with(&shop, RELEASED, &[]).fails_in_one_line(&[
        "`billing-v2.0.0`, `orders-v1.2.3`",
        "`--tag-prefix billing-v` or `--tag-prefix orders-v`",
    ]);
    let prefix = |prefix| ["--tag-prefix", prefix];
    check_with(&shop, RELEASED, &prefix("orders-v")).says(0, &["with orders-v1.2.3 ("]);
    check_with(&shop, RELEASED, &prefix("order-v")).fails_in_one_line(&["`order-v`", "`--first-release`"]);
    check_with(&shop, RELEASED, &["--tag-prefix", "new-v", "--first-release"]).says(0, &["no release tag"]);
    shop.run(BROKEN, &["schema-accept", "--tag-prefix", "orders-v"]).says(1, &["with orders-v1.2.3 ("]);
}

fn check_with(shop: &Shop, xtask: &str, args: &[&str]) -> Outcome {
    shop.run(xtask, &[&["schema-check"], args].concat())
}

#[test]
fn a_release_without_contracts_is_an_error_until_it_is_said_that_there_is_none_yet() {
    let shop = Shop::in_repository();
    shop.commit("before outbox");
    shop.git(&["tag", "v1.0.0"]);
    shop.run(RELEASED, &["schema-accept"]).says(0, &["new: "]);
    check_with(&shop, RELEASED, &[]).fails_in_one_line(&[
        "v1.0.0 (",
        "has no contracts in `schemas`",
        "`--first-release`",
    ]);
    check_with(&shop, RELEASED, &["--first-release"]).says(0, &["v1.0.0", "has no contracts", "passed"]);
    shop.commit("with outbox");
    shop.git(&["tag", "v1.1.0"]);
    check_with(&shop, RELEASED, &["--first-release"]).fails_in_one_line(&["remove `--first-release`"]);
    check_with(&shop, RELEASED, &["--baseline", "v1.0.0"])
        .fails_in_one_line(&["has no contracts in `schemas`"]);
    check_with(&shop, RELEASED, &["--baseline", "v9.0.0"])
        .fails_in_one_line(&["no tag, commit or folder `v9.0.0`"]);
}

#[test]
fn outside_of_a_repository_nothing_passes_in_silence() {
    let shop = Shop::bare();
    shop.run(RELEASED, &["schema-accept"]).says(0, &["new: schemas/orders.placed/v1.json"]);
    shop.run(RELEASED, &["schema-check"]).fails_in_one_line(&["in no git repository", "`--baseline`"]);
    shop.run(RELEASED, &["schema-check", "--first-release"]).says(0, &["no git repository", "passed"]);
    shop.run(RELEASED, &["schema-check", "--baseline", "schemas"]).says(0, &["with schemas"]);
}

#[test]
fn worktrees_submodules_and_folders_of_larger_repositories_have_their_release() {
    let shop = released_twice();
    let linked = tempfile::TempDir::new().unwrap();
    let linked = linked.path().join("linked");
    shop.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    check(&linked).says(0, &["with v0.2.0 ("]);

    let outer = Shop::in_repository();
    let url = shop.folder.path().to_str().unwrap();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "parts/shop"]);
    outer.commit("with the shop");
    outer.git(&["tag", "v9.0.0"]);
    check(&outer.path("parts/shop")).says(0, &["with v0.2.0 ("]);

    let larger = Shop::in_repository();
    larger.write("services/shop/Cargo.lock", "");
    let folder = larger.path("services/shop");
    run_in(&folder, RELEASED, &["schema-accept"]).says(0, &["new: schemas/orders.placed/v1.json"]);
    larger.commit("all services");
    larger.git(&["tag", "v3.0.0"]);
    check(&folder).says(1, &["with v3.0.0 (", "[contract-stale]"]);
    run_in(&folder, BROKEN, &["schema-accept"]).says(1, &["with v3.0.0 (", "nothing was written"]);
}

#[test]
fn what_a_hook_inherits_does_not_mislead() {
    let (shop, other) = (released_twice(), Shop::released("v7.0.0"));
    let mut command = command(shop.folder.path(), GROWN, &["schema-check"]);
    let other = other.path(".git");
    command.env("GIT_DIR", &other).env("GIT_WORK_TREE", "/").env("GIT_INDEX_FILE", other.join("index"));
    command.env("GIT_PREFIX", "schemas/").env("LC_ALL", "de_DE.UTF-8");
    Outcome::of(&command.output().unwrap()).says(0, &["with v0.2.0 ("]);
}

#[test]
fn a_checkout_of_somebody_else_and_a_machine_without_git_name_what_helps() {
    let shop = released_twice();
    let mut foreign = command(shop.folder.path(), GROWN, &["schema-check"]);
    foreign.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    let place = shop.folder.path().canonicalize().unwrap();
    let trust = format!("`git config --global --add safe.directory {}`", place.display());
    Outcome::of(&foreign.output().unwrap()).fails_in_one_line(&["belongs to another user", &trust]);
    let mut alone = command(shop.folder.path(), GROWN, &["schema-check"]);
    alone.env("PATH", "");
    Outcome::of(&alone.output().unwrap()).fails_in_one_line(&["can't run git", "install it", "`--baseline`"]);
    let mut given = command(shop.folder.path(), GROWN, &["schema-check", "--baseline", "schemas"]);
    given.env("PATH", "");
    Outcome::of(&given.output().unwrap()).says(0, &["with schemas"]);
}

#[test]
fn a_broken_repository_is_an_error_with_the_words_of_git() {
    let shop = released_twice();
    std::fs::remove_dir_all(shop.path(".git")).unwrap();
    shop.write(".git", "gitdir: /nowhere/at/all\n");
    check(shop.folder.path()).fails_in_one_line(&["/nowhere/at/all", "repair the clone"]);
}
