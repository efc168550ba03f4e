//! A crate of events outside of this workspace, with the three-line xtask of the README, through its releases.

mod behaviour;
mod versions;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use tempfile::TempDir;

/// The projects of all tests share one target folder, and so one binary: one of them builds and runs at a time.
static TARGET: Mutex<()> = Mutex::new(());

const XTASK: &str =
    "use shop_events as _;\nfn main() -> std::process::ExitCode {\n    outbox::xtask::main()\n}\n";

const VERSION_1: &str = r#"//! Events of a shop.
use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An order was placed.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
pub struct OrderPlaced {
    /// The order's number.
    #[event(key)]
    pub order_id: String,
    /// What it costs.
    pub total_cents: u64,
    pub coupon: Option<String>,
}
"#;

const VERSION_2: &str = r#"
/// An order was placed, priced in any currency.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 2, topic = "orders")]
pub struct OrderPlacedV2 {
    #[event(key)]
    pub order_id: String,
    pub total: String,
}
"#;

struct Project {
    folder: TempDir,
    _one_at_a_time: MutexGuard<'static, ()>,
}

impl Project {
    /// A repository with version 1 of one event.
    fn new() -> Self {
        let guard = TARGET.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let project = Self { folder: TempDir::new().unwrap(), _one_at_a_time: guard };
        let outbox = repository().display().to_string();
        project.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"events\", \"xtask\"]\n");
        project.write(".gitignore", "/target\n");
        project.write(".cargo/config.toml", "[alias]\nxtask = \"run --quiet --package xtask --\"\n");
        project.write_events_manifest("");
        project.write(
            "xtask/Cargo.toml",
            &format!(
                "[package]\nname = \"xtask\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
                 outbox = {{ path = {outbox:?}, default-features = false, features = [\"xtask\"] }}\n\
                 shop-events = {{ path = \"../events\" }}\n"
            ),
        );
        project.write("xtask/src/main.rs", XTASK);
        project.write("events/src/lib.rs", VERSION_1);
        std::fs::copy(repository().join("Cargo.lock"), project.path("Cargo.lock")).unwrap();
        project.git(&["init", "--quiet"]);
        project
    }

    /// The same, after its first release.
    fn released() -> Self {
        let project = Self::new();
        assert_eq!(project.xtask(&["schema-accept"]).code, 0);
        project.release("v0.1.0");
        project
    }

    fn write_events_manifest(&self, more: &str) {
        let outbox = repository().display().to_string();
        self.write(
            "events/Cargo.toml",
            &format!(
                "[package]\nname = \"shop-events\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
                 outbox = {{ path = {outbox:?}, default-features = false }}\nschemars = \"1\"\n\
                 serde = {{ version = \"1\", features = [\"derive\"] }}\n{more}"
            ),
        );
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn git(&self, args: &[&str]) {
        let who = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
        let output =
            Command::new("git").arg("-C").arg(self.folder.path()).args(who).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn release(&self, tag: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", tag]);
        self.git(&["tag", tag]);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(self.folder.path()).args(["xtask"]).args(args);
        command.env("CARGO_TARGET_DIR", target_folder()).env("CARGO_NET_OFFLINE", "true");
        // What cargo tells the tests about themselves is not true of the project.
        command.env_remove("CARGO_MANIFEST_DIR").env_remove("NO_COLOR").stdin(Stdio::null());
        command
    }

    fn xtask(&self, args: &[&str]) -> Outcome {
        Outcome::of(&self.command(args).output().unwrap())
    }

    /// Changes the events, accepts the new contracts unless they break somebody, and checks them.
    fn change(&self, events: &str) -> Outcome {
        self.write("events/src/lib.rs", events);
        let accepted = self.xtask(&["schema-accept"]);
        assert!(accepted.code <= 1, "{accepted:?}");
        self.xtask(&["schema-check"])
    }
}

#[derive(Debug)]
struct Outcome {
    code: i32,
    out: String,
    err: String,
}

impl Outcome {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().expect("the xtask was not killed");
        Self { code, out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        for part in parts {
            assert!(self.out.contains(part), "`{part}` is missing in:\n{}\n{}", self.out, self.err);
        }
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// A folder that outlives the test, as the dependencies are built once.
fn target_folder() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository().join("target"), PathBuf::from);
    target.join("user-crate")
}

/// The line of a part of the source, from 1.
fn line_of(source: &str, part: &str) -> String {
    let at = source.lines().position(|line| line.contains(part)).unwrap();
    format!("events/src/lib.rs:{}", at + 1)
}

#[test]
fn a_stale_contract_and_a_missing_one_fail_until_they_are_accepted() {
    let project = Project::new();
    project
        .xtask(&["schema-check"])
        .says(1, &["[contract-missing]", "schemas/orders.placed/v1.json is missing"]);
    project.xtask(&["schema-accept"]).says(0, &["new: schemas/orders.placed/v1.json"]);
    project.xtask(&["schema-accept"]).says(0, &["nothing changed"]);
    project.xtask(&["schema-check"]).says(0, &["no release tag", "checked only whether", "passed"]);
    project.write("events/src/lib.rs", &VERSION_1.replace("Option<String>", "Option<u32>"));
    let stale = project.xtask(&["schema-check"]);
    stale.says(
        1,
        &["[contract-stale]", "run `cargo xtask schema-accept`", &line_of(VERSION_1, "struct OrderPlaced")],
    );
}

#[test]
fn an_additive_change_passes() {
    let project = Project::released();
    let grown = VERSION_1.replace(
        "    pub coupon",
        "    pub note: Option<String>,\n    #[serde(default)]\n    pub gift: bool,\n    pub coupon",
    );
    project.change(&grown).says(0, &["compared the catalog (1 version of events) with v0.1.0", "passed"]);
}

#[test]
fn a_removed_field_fails_with_a_payload_and_the_line_of_the_struct() {
    let project = Project::released();
    let line = line_of(VERSION_1, "struct OrderPlaced");
    let required = project.change(&VERSION_1.replace("    pub total_cents: u64,\n", ""));
    required.says(
        1,
        &[
            "breaking: orders.placed version 1: field `total_cents` was removed [released-reader-refuses]",
            r#"payload  {"#,
            r#""total_cents" is a required property"#,
            "pointer  /total_cents",
            "bring `total_cents` back; or add version 2",
            &line_of(VERSION_1, "struct OrderPlaced"),
        ],
    );
    // Nobody refuses a payload without an optional field, and yet its readers get nothing any more.
    let optional = project.change(&VERSION_1.replace("    pub coupon: Option<String>,\n", ""));
    optional.says(1, &["field `coupon` was removed [field-removed]", r#""coupon":"#, &line]);
}

#[test]
fn a_required_field_fails_with_a_payload_and_its_line() {
    let project = Project::released();
    let events = VERSION_1.replace("    pub coupon", "    pub currency: String,\n    pub coupon");
    project.change(&events).says(
        1,
        &[
            "field `currency` was added and is required [reader-refuses-released]",
            r#""currency" is a required property"#,
            "make `currency` an `Option`, or give it `#[serde(default)]`; or add version 2",
            &line_of(&events, "pub currency"),
        ],
    );
}

#[test]
fn a_second_version_passes_beside_the_first_and_not_in_its_place() {
    let project = Project::released();
    let both = format!("{VERSION_1}{VERSION_2}");
    project.change(&both).says(0, &["passed"]);
    project.release("v0.2.0");
    project.xtask(&["schema-check"]).says(0, &["compared the catalog (2 versions of events) with v0.2.0"]);
    let header = &VERSION_1[..VERSION_1.find("/// An order").unwrap()];
    let alone = project.change(&format!("{header}{VERSION_2}"));
    alone.says(1, &["[version-removed]", "version 1 of `orders.placed` is no longer declared"]);
}

#[test]
fn the_baseline_may_be_a_tag_a_commit_or_a_folder() {
    let project = Project::released();
    let grown = VERSION_1.replace("    pub coupon", "    pub note: Option<String>,\n    pub coupon");
    project.change(&grown).says(0, &["with v0.1.0"]);
    project.release("v0.2.0-rc.1");
    project.xtask(&["schema-check"]).says(0, &["compared the catalog (1 version of events) with v0.1.0"]);
    project.write("events/src/lib.rs", VERSION_1);
    project
        .xtask(&["schema-check", "--baseline", "v0.2.0-rc.1"])
        .says(1, &["with v0.2.0-rc.1", "field `note` was removed [field-removed]"]);
    project.write("events/src/lib.rs", &grown);
    project.xtask(&["schema-check", "--baseline", "HEAD~1"]).says(0, &["with HEAD~1 ("]);
    project
        .xtask(&["schema-check", "--baseline", "schemas"])
        .says(0, &["(1 version of events) with schemas"]);
    let unknown = project.xtask(&["schema-check", "--baseline", "v9.9.9"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(unknown.err.contains("no tag, commit or folder `v9.9.9`"), "{unknown:?}");
}

#[test]
fn the_order_in_which_serde_json_keeps_members_changes_no_contract() {
    let project = Project::released();
    project.write_events_manifest("serde_json = { version = \"1\", features = [\"preserve_order\"] }\n");
    project.xtask(&["schema-check"]).says(0, &["passed"]);
    project.xtask(&["schema-accept"]).says(0, &["nothing changed"]);
}

#[test]
fn an_xtask_that_names_no_events_says_what_to_write() {
    let project = Project::new();
    project.write("xtask/src/main.rs", &XTASK.replace("use shop_events as _;\n", ""));
    let outcome = project.xtask(&["schema-check"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.err.contains("use my_events as _;"), "{outcome:?}");
    // What a finding means can be asked even so.
    let page = std::fs::read_to_string(repository().join("docs/findings.md")).unwrap();
    assert_eq!(project.xtask(&["schema-check", "--explain", "all"]).out, page);
    project
        .xtask(&["schema-check", "--explain", "key-changed"])
        .says(0, &["key-changed\n", "Before:", "Fix: "]);
    project.xtask(&["schema-check", "--explain"]).says(0, &["\ntopic-changed  ", "\nnot-proven  "]);
    let unknown = project.xtask(&["schema-check", "--explain", "key-change"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(
        unknown.err.contains("no finding has the id `key-change`; did you mean `key-changed`?"),
        "{unknown:?}"
    );
    assert!(unknown.err.contains("\ntopic-changed  "), "{unknown:?}");
    // Any two schemas can be compared all the same.
    project.write("schema.json", "true");
    project.xtask(&["schema-compare", "schema.json", "schema.json"]).says(0, &["backward: holds"]);
}

#[test]
fn the_catalog_describes_every_event_with_a_payload() {
    let project = Project::new();
    let lines = "    pub total: String,\n    /// What was ordered.\n    #[serde(default)]\n    pub lines: Vec<Line>,\n";
    let line = "\n#[derive(Serialize, Deserialize, JsonSchema)]\npub struct Line {\n    pub sku: String,\n    pub count: u32,\n}\n";
    let version_2 = VERSION_2.replace("    pub total: String,\n", lines);
    project.write("events/src/lib.rs", &format!("{VERSION_1}{version_2}{line}"));
    project.xtask(&["catalog"]).says(0, &["wrote docs/catalog.md"]);
    let page = project.read("docs/catalog.md");
    for part in [
        "| [orders.placed](#ordersplaced) | 1, 2 | orders | shop-events | none |",
        "### orders.placed version 2",
        "| `lines` | list of Line | yes | no | What was ordered. |",
        "`Line`:",
        "| `count` | integer (uint32) | yes | yes |  |",
        "An order was placed, priced in any currency.",
        "| `total_cents` | integer (uint64) | yes | yes | What it costs. |",
        "| `coupon` | string or null | yes | no |  |",
        "| partition key | the field `order_id` |",
        "events/src/lib.rs",
        "Events of the crate `shop_events`; consumers of no package.",
    ] {
        assert!(page.contains(part), "`{part}` is missing in:\n{page}");
    }
    let payload = page.split("```json\n").nth(2).and_then(|rest| rest.split("```").next()).unwrap();
    let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
    assert_eq!(payload["eventVersion"], 1, "{payload}");
    assert!(payload["total_cents"].is_u64() && payload["order_id"].is_string(), "{payload}");
}

#[test]
fn a_closed_pipe_is_no_panic_and_text_for_a_pipe_has_no_colour() {
    let project = Project::released();
    let failed = project.change(&VERSION_1.replace("u64", "String"));
    failed.says(1, &["breaking"]);
    assert!(!failed.out.contains('\u{1b}'), "{failed:?}");
    let report = ["schema-check", "--format", "json"];
    for args in [
        &["schema-check"][..],
        &report,
        &["schema-check", "--explain", "all"],
        &["schema-accept"],
        &["--help"],
    ] {
        let mut child = project.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let outcome = Outcome::of(&child.wait_with_output().unwrap());
        assert!(!outcome.err.contains("panicked"), "{args:?}: {outcome:?}");
        assert!([0, 1].contains(&outcome.code), "{args:?}: {outcome:?}");
    }
}
