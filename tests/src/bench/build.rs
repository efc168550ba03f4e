//! A clean debug build of a crate that declares events, against the same crate with serde and schemars alone.

use super::{Row, Wanted};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const STRUCTS: usize = 10;

/// CPU seconds of a build.
pub(super) fn row(rounds: usize) -> Row {
    let dir = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let plain = package(&dir, "plain", "");
    let dependency = format!("outbox = {{ path = {root:?}, default-features = false }}\n");
    let events = package(&dir, "events", &dependency);
    for folder in [&plain, &events] {
        std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    }
    let (mut raw, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        raw.push(cpu_seconds_of_build(&plain));
        ours.push(cpu_seconds_of_build(&events));
    }
    Row {
        name: "clean build of an events crate".into(),
        unit: "CPU s",
        raw,
        ours,
        wanted: Wanted::RatioAtMost(1.35),
    }
}

fn package(dir: &TempDir, name: &str, dependency: &str) -> PathBuf {
    let folder = dir.path().join(name);
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         schemars = \"1\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\n{dependency}"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let mut source =
        "//! Events.\nuse schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n".to_owned();
    for n in 0..STRUCTS {
        let (derive, event) = if dependency.is_empty() {
            ("", String::new())
        } else {
            (
                ", outbox::Event",
                format!("#[event(type = \"bench.e{n}\", version = 1, topic = \"bench\", unordered)]\n"),
            )
        };
        source.push_str(&format!(
            "#[derive(Serialize, Deserialize, JsonSchema{derive})]\n{event}pub struct Event{n} {{\n    pub id: u64,\n    \
             pub name: String,\n    pub note: Option<String>,\n    pub tags: Vec<String>,\n}}\n"
        ));
    }
    std::fs::write(folder.join("src/lib.rs"), source).unwrap();
    folder
}

fn cpu_seconds_of_build(folder: &Path) -> f64 {
    let target = tempfile::tempdir().unwrap();
    let before = children_cpu_seconds();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target.path())
        .env_remove("RUSTC_WRAPPER")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "the build of {} failed", folder.display());
    children_cpu_seconds() - before
}

/// User and system time of all children that have ended, from the kernel's own account of this process.
fn children_cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name may hold blanks and parentheses; the fields are counted from behind it.
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    let ticks = |field: usize| fields[field].parse::<f64>().unwrap();
    // cutime and cstime, in ticks of 10 ms: the unit that Linux shows to every program.
    (ticks(13) + ticks(14)) / 100.0
}
