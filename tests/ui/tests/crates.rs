//! Runs cargo on the crates of this workspace, which stand for packages of users.

use std::process::{Command, Output};

/// Runs cargo in this workspace, with the target folder that this test was built into.
fn cargo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--quiet", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .env("CARGO_TERM_COLOR", "never")
        .output()
        .expect("cargo can be started")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// R35.
#[test]
fn events_and_handlers_compile_in_an_old_edition_under_another_name_and_through_a_platform_crate() {
    for package in ["edition-2018", "renamed", "through-platform"] {
        let output = cargo(&["test", "--package", package]);
        assert!(
            output.status.success(),
            "{package}: {}{}",
            stderr(&output),
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

/// R35.
#[test]
fn a_package_that_must_say_where_outbox_is_gets_one_error_that_names_the_attribute() {
    let output = cargo(&["check", "--package", "through-platform", "--features", "attribute-forgotten"]);
    let stderr = stderr(&output);
    assert!(!output.status.success());
    let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error")).collect();
    assert!(errors[0].contains("`#[event(crate = path::to::outbox)]`"), "{stderr}");
    assert!(errors[1].starts_with("error: could not compile"), "{stderr}");
    assert_eq!(errors.len(), 2, "{stderr}");
}

/// R34. The package denies them all, so a lint is an error.
#[test]
fn generated_code_trips_no_lint() {
    let output = cargo(&["clippy", "--package", "lints"]);
    assert!(output.status.success(), "{}", stderr(&output));
}
