//! The first thing a newcomer runs.

use outbox_tests::programs;
use std::time::{Duration, Instant};

#[test]
fn quickstart_shows_the_pattern_and_ends_by_itself() {
    let mut quickstart = programs::quickstart();
    let begun = Instant::now();

    let output = quickstart.output().unwrap();

    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    assert!(begun.elapsed() < Duration::from_secs(60), "it took {:?}", begun.elapsed());
    let in_order = [
        "order 1002 failed before its commit, and left neither row nor event",
        "billing has 1 event ahead of it again",
        "charged nothing",
        "set aside after 3 attempts: orders.placed of order 1003",
        "order 1003 is charged 900 cents (attempt 1)",
        "Each committed order was charged exactly once.",
    ];
    let mut rest = shown.as_str();
    for part in in_order {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("`{part}` is missing in:\n{shown}"));
        rest = after;
    }
    assert_eq!(shown.matches("order 1001 is charged").count(), 1, "{shown}");
    assert!(!shown.contains("order 1002 is charged"), "{shown}");
}
