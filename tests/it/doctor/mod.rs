//! `outbox doctor`: each finding comes of the real fault, tells what to do, and is gone once that is done.

mod kafka;
mod nats;
mod postgres;
mod rabbitmq;
mod redis;
mod stages;

use outbox::Finding;
use std::path::Path;

/// The codes of the findings about something, in their order.
fn codes(findings: &[Finding], about: &str) -> Vec<&'static str> {
    findings.iter().filter(|finding| finding.about == about).map(|finding| finding.code).collect()
}

/// The one finding of that code.
#[track_caller]
fn one<'a>(findings: &'a [Finding], code: &str) -> &'a Finding {
    let mut found = findings.iter().filter(|finding| finding.code == code);
    let Some(finding) = found.next() else { panic!("no `{code}` among {findings:#?}") };
    assert!(found.next().is_none(), "more than one `{code}` among {findings:#?}");
    finding
}

#[track_caller]
fn assert_says(finding: &Finding, parts: &[&str]) {
    let text = format!("{}\n{}\n{}", finding.problem, finding.why, finding.fix);
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in {finding:#?}");
    }
}

/// The page for scripts has a row for each code that the sources have, and for no other.
#[test]
fn every_code_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(root.join("docs/command-line.md")).unwrap();
    let (_, table) = page.split_once("| finding |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut documented: Vec<String> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect();
    documented.sort();
    let mut known = Vec::new();
    for sources in ["outbox-runtime/src", "src"] {
        collect_codes(&root.join(sources), &mut known);
    }
    known.sort();
    known.dedup();
    assert!(known.len() > 10, "{known:?}");
    assert_eq!(documented, known);
}

/// Every code of a finding in the sources below `folder`.
fn collect_codes(folder: &Path, codes: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_codes(&path, codes);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.contains("Finding {") {
            continue;
        }
        // A code is named in the finding itself, or beside the text that is chosen with it.
        let starts = ["code: \"", "(\""];
        for (at, start) in starts.iter().flat_map(|start| text.match_indices(start)) {
            let code: String = text[at + start.len()..].chars().take_while(|c| *c != '"').collect();
            let is_code = code.contains('-') && code.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            codes.extend(is_code.then_some(code));
        }
    }
}
