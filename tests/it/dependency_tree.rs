//! What a crate that only declares events builds: nothing that it does not need.

use std::path::Path;
use std::process::Command;

#[test]
fn a_crate_that_only_declares_events_builds_no_runtime_and_no_second_syn() {
    let tree = dependency_tree_of_an_events_crate();

    for package in ["outbox", "outbox-schema", "outbox-macros", "serde", "schemars", "syn"] {
        assert!(tree.iter().any(|(name, _)| name == package), "`{package}` is missing in {tree:?}");
    }
    for package in [
        "tokio",
        "sqlx",
        "sqlx-core",
        "jsonschema",
        "clap",
        "async-nats",
        "lapin",
        "redis",
        "rdkafka",
        "outbox-runtime",
    ] {
        assert!(
            tree.iter().all(|(name, _)| name != package),
            "`{package}` is in the tree of an events crate"
        );
    }
    let old_syn = tree.iter().find(|(name, version)| name == "syn" && !version.starts_with("v3."));
    assert_eq!(old_syn, None, "an events crate builds a second syn");
}

/// Name and version of each package in the tree of a crate outside this workspace.
fn dependency_tree_of_an_events_crate() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let manifest = format!(
        "[package]\nname = \"acme-events\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         outbox = {{ path = {root:?}, default-features = false }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nschemars = \"1\"\n"
    );
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/lib.rs"), "").unwrap();
    // The versions of this repository: then nothing is asked of a registry.
    std::fs::copy(root.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();

    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(tree.status.success(), "cargo tree failed: {}", String::from_utf8_lossy(&tree.stderr));
    let lines = String::from_utf8(tree.stdout).unwrap();
    let package = |line: &str| Some((line.split(' ').next()?.to_owned(), line.split(' ').nth(1)?.to_owned()));
    lines.lines().filter_map(package).collect()
}
