//! The rules of this repository that the compiler does not know, as ordinary tests.
//!
//! Each test collects every breach before it fails, so that one run shows them all.

mod source;

use source::{Source, crate_paths, repository_root, sources};
use std::collections::BTreeMap;
use std::path::Path;

/// The modules of `outbox-runtime` in layer order: each may name modules of its own line and of lines above it.
const LAYERS: &[&[&str]] = &[
    &["simulated", "simulated_never", "clock", "telemetry", "backoff", "pause", "envelope", "payload"],
    &["store", "cursor", "gaps", "lease", "held", "marker", "dead_letter", "range", "scheduled", "finding"],
    &["wake", "poison", "held_watch", "leadership", "suspicion"],
    &["enqueue", "draft", "preflight", "validate"],
    &["broker"],
    &["relay", "upkeep", "alert", "cdc"],
    &["consumer"],
    &["replay", "schedule", "forgetting", "doctor", "start", "runner", "webhook", "simulation"],
    &["conformance"],
];

/// References against the layers, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    // `runner` is the one place that spawns, and an outbox without relay spawns its notifier.
    ("enqueue", "runner"),
];

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;

#[test]
fn a_module_of_the_runtime_names_only_its_own_layer_and_those_above() {
    let root = "outbox-runtime/src/";
    let lib = source::read(&format!("{root}lib.rs"));
    let homes = source::reexports(&lib);
    let mut breaches = Vec::new();
    for file in sources("outbox-runtime/src", "rs") {
        let module = module_of(&file.path, root);
        if module == "lib" {
            continue;
        }
        let Some(layer) = layer_of(&module) else {
            breaches.push(format!("{}: module `{module}` has no layer; add it to LAYERS", file.path));
            continue;
        };
        for target in crate_paths(&file) {
            let target = homes.get(&target).unwrap_or(&target);
            let is_below = layer_of(target).is_some_and(|target_layer| target_layer > layer);
            if is_below && !EXCEPTIONS.contains(&(&module, target)) {
                breaches.push(format!("{}: names `crate::{target}`, a layer below `{module}`", file.path));
            }
        }
    }
    none(&breaches);
}

#[test]
fn each_client_library_has_one_home() {
    let homes: BTreeMap<&str, &str> = [
        ("sqlx", "outbox-runtime/src/store/"),
        ("async_nats", "outbox-runtime/src/broker/nats/"),
        ("lapin", "outbox-runtime/src/broker/rabbitmq/"),
        ("redis_client", "outbox-runtime/src/broker/redis/"),
        ("rdkafka", "outbox-runtime/src/broker/kafka/"),
    ]
    .into();
    let mut breaches = Vec::new();
    // An example is a user's program: it writes its own tables with the driver.
    for file in published_sources().filter(|file| !file.path.starts_with("examples/")) {
        for (client, home) in &homes {
            if !file.path.starts_with(home) && file.words().any(|word| word == *client) {
                breaches.push(format!("{}: names `{client}`, which only {home} may", file.path));
            }
        }
    }
    none(&breaches);
}

#[test]
fn sql_is_in_files_of_its_own_and_each_is_used() {
    const VERBS: [&str; 12] = [
        "SELECT ",
        "INSERT INTO ",
        "UPDATE ",
        "DELETE FROM ",
        "CREATE ",
        "ALTER ",
        "DROP ",
        "TRUNCATE ",
        "WITH ",
        "BEGIN",
        "SAVEPOINT ",
        "PRAGMA ",
    ];
    let mut breaches = Vec::new();
    // The quickstart is read as one page, from top to bottom.
    for file in published_sources().filter(|file| !file.path.starts_with("examples/quickstart/")) {
        for text in file.without_tests().strings {
            if VERBS.iter().any(|verb| text.trim_start().starts_with(verb)) {
                breaches.push(format!("{}: SQL in a string: {text:?}", file.path));
            }
        }
    }
    let rust: Vec<Source> = published_sources().chain(sources("tests/it", "rs")).collect();
    for sql in sources(".", "sql") {
        // A file is included by its name, or by a macro that makes the name of an identifier.
        let name = sql.path.rsplit('/').next().expect("a path has a last part").to_owned();
        let stem = name.trim_end_matches(".sql");
        let is_used = rust.iter().any(|file| {
            file.strings.iter().any(|text| text.ends_with(&name)) || file.words().any(|word| word == stem)
        });
        if !is_used {
            breaches.push(format!("{}: no Rust file includes it", sql.path));
        }
    }
    none(&breaches);
}

/// A file of SQL holds one statement, whole, so that it can be read and prepared by itself. What several have in common must
/// then be the same text in each.
#[test]
fn what_statements_have_in_common_is_the_same_in_each() {
    let file =
        |store: &str, name: &str| source::read(&format!("outbox-runtime/src/store/{store}/sql/{name}.sql"));
    let condition = |line: &str| {
        let line = line.trim().trim_start_matches("WHERE ").trim_start_matches("AND ").replace("dead.", "");
        (line.contains("IS NULL OR") || line.contains("= '{}' OR")).then_some(line)
    };
    let filter = |text: String| text.lines().filter_map(condition).collect::<Vec<_>>();
    for (store, last) in [("postgres", "cancel_requests"), ("sqlite", "select_requests")] {
        let filters = ["select_dead_letters", "count_dead_letters", "insert_requests", last]
            .map(|name| (name, filter(file(store, name))));
        let (_, first) = &filters[0];
        assert_eq!(first.len(), 10, "{store}: {first:#?}");
        for (name, other) in &filters {
            assert_eq!(other, first, "{store}/{name}.sql does not choose what select_dead_letters.sql does");
        }
    }
    let walk = |name| {
        let text = file("postgres", name);
        let start = text.find("WITH RECURSIVE stage AS (").expect("it walks over the stages");
        text[start..].lines().take_while(|line| !line.starts_with(')')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(walk("count_missed"), walk("select_old_leaf"));
}

#[test]
fn files_and_functions_stay_short() {
    let mut breaches = Vec::new();
    for file in sources(".", "rs") {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            breaches.push(format!("{}: {lines} lines, at most {FILE_LINES_MAX}", file.path));
        }
        for (name, lines) in file.functions() {
            if lines > FUNCTION_LINES_MAX {
                breaches.push(format!(
                    "{}: fn {name} has {lines} lines, at most {FUNCTION_LINES_MAX}",
                    file.path
                ));
            }
        }
    }
    none(&breaches);
}

/// What every author would write again is in the framework.
#[test]
fn a_broker_of_somebody_elses_takes_less_than_200_lines() {
    let lines = source::read("tests/file-broker/src/lib.rs").lines().count();
    assert!(lines < 200, "it has {lines} lines");
}

#[test]
fn each_file_begins_by_saying_what_it_is() {
    let mut breaches = Vec::new();
    for (extension, opening) in [("rs", "//!"), ("sql", "--")] {
        for file in sources(".", extension) {
            // A macro case is judged by the compiler's output, which names lines: a plain comment is enough there.
            let opening = if file.path.starts_with("tests/ui/") { "//" } else { opening };
            if !file.text.starts_with(opening) {
                breaches.push(format!("{}: the first line does not begin with `{opening}`", file.path));
            }
        }
    }
    none(&breaches);
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    // Put together here, else this file would be a breach itself.
    let markers = ["work", "home", "root"].map(|folder| format!("/{folder}/"));
    let mut breaches = Vec::new();
    for extension in ["rs", "sql", "md", "toml", "json", "run", "yml", "sh"] {
        for file in sources(".", extension) {
            for marker in markers.iter().filter(|marker| file.text.contains(marker.as_str())) {
                breaches.push(format!("{}: contains `{marker}`", file.path));
            }
        }
    }
    none(&breaches);
}

#[test]
fn each_todo_carries_an_issue_number() {
    let marker = ["TO", "DO"].concat();
    let mut breaches = Vec::new();
    for file in sources(".", "rs").chain(sources(".", "sql")) {
        for (line, text) in file.text.lines().enumerate() {
            if text.contains(&marker) && !text.contains(&format!("{marker}(#")) {
                breaches.push(format!("{}:{}: {marker} without an issue number", file.path, line + 1));
            }
        }
    }
    none(&breaches);
}

#[test]
fn every_database_and_broker_has_its_feature_and_folder() {
    let manifest = source::read("Cargo.toml");
    let mut breaches = Vec::new();
    for (kind, known) in [
        ("store", &["postgres", "sqlite"][..]),
        ("broker", &["kafka", "local", "nats", "rabbitmq", "redis"][..]),
    ] {
        let folder = repository_root().join("outbox-runtime/src").join(kind);
        for name in known {
            let has_home = folder.join(name).is_dir() || folder.join(format!("{name}.rs")).is_file();
            let has_feature =
                manifest.contains(&format!("\n{name} = [\"runtime\", \"outbox-runtime/{name}\"]"));
            if !has_home || !has_feature {
                breaches
                    .push(format!("{kind} `{name}`: folder {has_home}, feature of the facade {has_feature}"));
            }
        }
        for entry in std::fs::read_dir(&folder).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
            let name = entry.file_name().into_string().unwrap();
            if !known.contains(&name.as_str()) {
                breaches.push(format!(
                    "{kind} `{name}` has a folder and is missing in this test and the features"
                ));
            }
        }
    }
    none(&breaches);
}

/// What users get: the published packages and the examples.
fn published_sources() -> impl Iterator<Item = Source> {
    let folders = ["src", "outbox-macros/src", "outbox-schema/src", "outbox-runtime/src", "examples"];
    folders.into_iter().flat_map(|folder| sources(folder, "rs"))
}

/// The first module below `root`.
fn module_of(path: &str, root: &str) -> String {
    let below = path.strip_prefix(root).expect("the file lies below the root");
    let first = Path::new(below).components().next().expect("a path has a first part");
    first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn none(breaches: &[String]) {
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}
