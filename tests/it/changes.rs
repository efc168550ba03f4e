//! One change of an event after the other, in a crate outside of this workspace: the report names the right line, its
//! payload really fails in one of the two programs, and what it says to do makes the check pass.

mod expected;

use expected::{CHANGES, Change, Found, NEW_FAILS, OLD_FAILS};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const BEFORE: &str = include_str!("changes/before.rs");
const AFTER: &str = include_str!("changes/after.rs");
const FIXED: &str = include_str!("changes/fixed.rs");

const XTASK: &str = r#"//! The xtask of a project, which can also read an event as a consumer does.
use shop_events as _;
use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["decode", event_type] => decode(event_type),
        _ => outbox::xtask::main(),
    }
}

/// Reads the payload from the standard input and writes it again.
fn decode(event_type: &str) -> ExitCode {
    let mut payload = String::new();
    std::io::stdin().read_to_string(&mut payload).unwrap();
    let catalog = outbox::Catalog::collect().unwrap();
    let event = catalog.events().iter().find(|event| event.event_type == event_type).unwrap();
    match (event.round_trip)(&payload) {
        Ok(written) => {
            println!("{written}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
"#;

/// A repository with the crate of events in a folder of it, and beside it, in a workspace of its own, the xtask.
struct Project {
    folder: TempDir,
}

/// The xtask built with one of the three modules.
struct Program {
    binary: PathBuf,
    tools: PathBuf,
}

impl Project {
    fn new() -> Self {
        let project = Self { folder: TempDir::new().unwrap() };
        let outbox = repository().display().to_string();
        project.write(
            "shop/events/Cargo.toml",
            &format!(
                "[package]\nname = \"shop-events\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[features]\n\
                 before = []\nafter = []\nfixed = []\n\n[dependencies]\n\
                 outbox = {{ path = {outbox:?}, default-features = false }}\n\
                 schemars = {{ version = \"1\", features = [\"uuid1\"] }}\n\
                 serde = {{ version = \"1\", features = [\"derive\"] }}\n\
                 uuid = {{ version = \"1\", features = [\"serde\"] }}\n"
            ),
        );
        let modules: String = ["before", "after", "fixed"]
            .map(|name| format!("#[cfg(feature = \"{name}\")]\npub mod {name};\n"))
            .concat();
        project.write("shop/events/src/lib.rs", &format!("//! Events of a shop.\n{modules}"));
        for (name, source) in [("before", BEFORE), ("after", AFTER), ("fixed", FIXED)] {
            project.write(&format!("shop/events/src/{name}.rs"), source);
        }
        project.write(
            "shop/tools/Cargo.toml",
            &format!(
                "[package]\nname = \"changes-xtask\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                 [features]\nbefore = [\"shop-events/before\"]\nafter = [\"shop-events/after\"]\n\
                 fixed = [\"shop-events/fixed\"]\n\n[dependencies]\n\
                 outbox = {{ path = {outbox:?}, default-features = false, features = [\"xtask\"] }}\n\
                 shop-events = {{ path = \"../events\" }}\n"
            ),
        );
        project.write("shop/tools/src/main.rs", XTASK);
        std::fs::copy(repository().join("Cargo.lock"), project.path("shop/tools/Cargo.lock")).unwrap();
        project.git(&["init", "--quiet"]);
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn git(&self, args: &[&str]) {
        let who = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
        let git =
            Command::new("git").arg("-C").arg(self.folder.path()).args(who).args(args).output().unwrap();
        assert!(git.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&git.stderr));
    }

    fn build(&self, module: &str) -> Program {
        let target = target_folder();
        let build = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--features", module])
            .current_dir(self.path("shop/tools"))
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_NET_OFFLINE", "true")
            .output()
            .unwrap();
        assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
        // The next build takes its place.
        let binary = self.path(module);
        std::fs::copy(target.join("debug/changes-xtask"), &binary).unwrap();
        Program { binary, tools: self.path("shop/tools") }
    }
}

impl Program {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args).current_dir(&self.tools).env_remove("CARGO_MANIFEST_DIR").stdin(Stdio::null());
        command
    }

    #[track_caller]
    fn run(&self, code: i32, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn report(&self, code: i32) -> Value {
        serde_json::from_str(&self.run(code, &["schema-check", "--format", "json"])).unwrap()
    }

    /// What the program makes of a payload that it reads: what it would write, or its error.
    fn decode(&self, event: &str, payload: &Value) -> Result<Value, String> {
        let mut decode = self.command(&["decode", event]);
        decode.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = decode.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        match status.code() {
            Some(0) => Ok(serde_json::from_slice(&stdout).unwrap()),
            Some(1) => Err(String::from_utf8(stderr).unwrap()),
            code => panic!("{code:?}: {}", String::from_utf8_lossy(&stderr)),
        }
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// A folder that outlives the test, as the dependencies are built once; the tests in `user_crate` use it too.
fn target_folder() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository().join("target"), PathBuf::from);
    target.join("user-crate")
}

#[test]
fn each_change_is_told_with_its_line_a_payload_that_fails_and_a_fix_that_works() {
    let project = Project::new();
    let before = project.build("before");
    before.run(0, &["schema-accept"]);
    project.git(&["add", "--all"]);
    project.git(&["commit", "--quiet", "--message", "the first release"]);
    project.git(&["tag", "v1.0.0"]);

    let after = project.build("after");
    let report = after.report(1);
    let text = after.run(1, &["schema-check"]);
    let mut told = 0;
    for Change { event, findings } in CHANGES {
        let of_event: Vec<&Value> = findings_of(&report, event);
        let ids: Vec<&str> = of_event.iter().map(|finding| finding["id"].as_str().unwrap()).collect();
        assert_eq!(ids, findings.iter().map(|found| found.id).collect::<Vec<_>>(), "{event}");
        for (finding, found) in of_event.into_iter().zip(*findings) {
            is_told(&text, finding, found);
            fails(&before, &after, event, finding);
            told += 1;
        }
    }
    let gone = findings_of(&report, "tours.lost");
    assert_eq!(gone[0]["id"], "version-removed");
    assert_eq!(gone[0]["location"]["file"], "shop/tools/schemas/tours.lost/v1.json");
    assert_eq!(report["counts"]["breaking"], told + gone.len(), "{report:#}");
    assert_eq!(report["counts"]["stale"], CHANGES.len(), "none of these is accepted");
    reports_name_places_that_exist(&project, &after);

    let fixed = project.build("fixed");
    fixed.run(0, &["schema-accept"]);
    let report = fixed.report(0);
    assert_eq!((&report["outcome"], report["findings"].as_array().unwrap().len()), (&"passed".into(), 0));
    assert_eq!(report["events"].as_array().unwrap().len(), CHANGES.len() + 1);
}

fn findings_of<'a>(report: &'a Value, event: &str) -> Vec<&'a Value> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(|finding| finding["eventType"] == event && finding["severity"] == "breaking").collect()
}

/// The text for people has the sentence, the line and the fix, as the finding has them.
fn is_told(text: &str, finding: &Value, found: &Found) {
    assert_eq!(finding["what"], found.what);
    assert!(finding["fix"].as_str().unwrap().starts_with(found.fix), "{finding:#}");
    assert_eq!(finding["location"]["file"], "shop/events/src/after.rs");
    let line = usize::try_from(finding["location"]["line"].as_u64().unwrap()).unwrap();
    assert!(
        AFTER.lines().nth(line - 1).unwrap().trim_start().starts_with(found.line),
        "line {line}: {finding:#}"
    );
    let head = format!(
        "breaking: {} version 1: {} [{}]\n",
        finding["eventType"].as_str().unwrap(),
        found.what,
        found.id
    );
    let told =
        text.split("\n\n").find(|part| part.starts_with(&head)).unwrap_or_else(|| panic!("{head}\n{text}"));
    assert!(told.contains(&format!("shop/events/src/after.rs:{line}\n")), "{told}");
    assert!(told.contains(&format!("\n  fix      {}", found.fix)), "{told}");
}

/// The payload of the finding does in the two programs what the finding says.
fn fails(before: &Program, after: &Program, event: &str, finding: &Value) {
    let (evidence, pointer) = (&finding["evidence"], finding["pointer"].as_str().unwrap());
    let payload = &evidence["payload"];
    let [old, new] = [before, after].map(|program| program.decode(event, payload));
    match (finding["id"].as_str().unwrap(), evidence["kind"].as_str().unwrap()) {
        (OLD_FAILS, "refused") => assert!(old.is_err() && new.is_ok(), "{old:?} {new:?} {finding:#}"),
        (NEW_FAILS | "reader-narrowed" | "alias-removed", "refused") => {
            assert!(old.is_ok() && new.is_err(), "{old:?} {new:?} {finding:#}");
        }
        ("field-removed", "dropped") => {
            assert_eq!(old.unwrap().pointer(pointer), payload.pointer(pointer), "{finding:#}");
            assert_eq!(new.unwrap().pointer(pointer), None, "{finding:#}");
        }
        // What is declared beside the fields changes no payload.
        ("topic-changed" | "key-changed" | "ordering-changed", "contracts") => {}
        other => panic!("{other:?}: {finding:#}"),
    }
}

/// Every file and line that any form of the report names is there in the repository.
fn reports_name_places_that_exist(project: &Project, after: &Program) {
    let files = [
        "sarif=reports/check.sarif",
        "junit=reports/check.xml",
        "markdown=reports/check.md",
        "json=reports/check.json",
    ];
    let mut args = vec!["schema-check", "--format", "github"];
    args.extend(files.iter().flat_map(|file| ["--report", file]));
    let annotations = after.run(1, &args);
    let exists = |file: &str, line: usize| {
        let text =
            std::fs::read_to_string(project.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!((1..=text.lines().count()).contains(&line), "{file}:{line}");
    };
    let read =
        |name: &str| std::fs::read_to_string(project.path(&format!("shop/tools/reports/{name}"))).unwrap();
    let report: Value = serde_json::from_str(&read("check.json")).unwrap();
    let count = report["findings"].as_array().unwrap().len();

    let places = annotations.lines().filter_map(|line| line.strip_prefix("::error file="));
    let places: Vec<(&str, &str)> = places.map(|rest| rest.split_once(",line=").unwrap()).collect();
    assert_eq!(places.len(), count, "{annotations}");
    for (file, rest) in places {
        exists(file, rest.split_once(',').unwrap().0.parse().unwrap());
    }
    let sarif: Value = serde_json::from_str(&read("check.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), count);
    for result in results {
        let place = &result["locations"][0]["physicalLocation"];
        let line = place["region"]["startLine"].as_u64().unwrap();
        exists(place["artifactLocation"]["uri"].as_str().unwrap(), usize::try_from(line).unwrap());
    }
    let cases = CHANGES.len() + 1;
    assert!(
        read("check.xml")
            .contains(&format!("<testsuites tests=\"{cases}\" failures=\"{cases}\" errors=\"0\">"))
    );
    assert_eq!(read("check.md").matches("\n| breaking |").count(), count - CHANGES.len());
}
