//! What a waiver lets through, and what it does not.

use super::*;
use crate::compat::Witness;
use serde_json::json;
use time::macros::date;

const TODAY: Date = date!(2027 - 01 - 31);

fn broken(pointer: &str, what: &str) -> Finding {
    Finding {
        id: FindingId::ReleasedReaderRefuses,
        event_type: "orders.placed".to_owned(),
        event_version: 2,
        what: what.to_owned(),
        evidence: Evidence::Contracts,
        pointer: pointer.to_owned(),
        location: Some(Location { file: "src/lib.rs".to_owned(), line: 7 }),
        fix: "bring it back".to_owned(),
    }
}

/// The file with one waiver for that finding.
fn waived(finding: &Finding, reason: &str, expires: &str) -> String {
    let fingerprint = fingerprint(finding);
    format!(
        "[[waiver]]\nfingerprint = \"{fingerprint}\"\nreason = \"{reason}\"\nowner = \"ada\"\nexpires = {expires}\n"
    )
}

fn outcome(text: &str, findings: &[Finding]) -> (Vec<Finding>, Vec<Waived>) {
    let waivers = file::parse(text).unwrap();
    let mut findings = findings.to_vec();
    let waived = apply(&waivers, &mut findings, TODAY);
    findings.extend(faults(Path::new("schemas/waivers.toml"), &waivers, &waived, true, TODAY));
    (findings, waived)
}

#[test]
fn a_fingerprint_is_that_of_the_change_and_of_nothing_else() {
    let finding = broken("/lines/0/sku", "field `lines[].sku` was removed");
    let name = fingerprint(&finding);
    assert_eq!(name, "orders.placed/v2/released-reader-refuses/fd932b768c5076a1");
    let witness = Witness { payload: json!(1), error: "no".to_owned(), pointer: "/lines/3/sku".to_owned() };
    let seen_elsewhere = Finding {
        pointer: "/lines/3/sku".to_owned(),
        evidence: Evidence::Refused(witness),
        location: None,
        fix: String::new(),
        ..finding.clone()
    };
    assert_eq!(fingerprint(&seen_elsewhere), name);
    for more in ["field `lines[].name` was added", "field `lines[].name` was added and is required"] {
        let beside = broken("/lines/0/sku", &format!("field `lines[].sku` was removed; {more}"));
        assert_eq!(fingerprint(&beside), name);
    }
    for other in [
        broken("/lines/0/sku", "`lines[].sku` changed its type from string to integer"),
        broken("/lines/0/name", "field `lines[].sku` was removed"),
        Finding { event_version: 3, ..finding.clone() },
        Finding { event_type: "orders.sent".to_owned(), ..finding.clone() },
        Finding { id: FindingId::FieldRemoved, ..finding.clone() },
    ] {
        assert_ne!(fingerprint(&other), name);
    }
}

#[test]
fn a_waived_finding_is_told_and_every_other_one_fails() {
    let (one, other) = (broken("/a", "field `a` was removed"), broken("/b", "field `b` was removed"));
    let text = waived(&one, "nobody reads it", "2027-01-31");
    let (findings, waived) = outcome(&text, &[one.clone(), other.clone()]);
    assert_eq!(findings, [other]);
    assert_eq!(waived[0].finding, one);
    assert_eq!(waived[0].sentence(), "by ada until 2027-01-31: nobody reads it");
}

#[test]
fn a_waiver_that_ran_out_that_is_not_needed_or_that_gives_no_reason_fails() {
    let one = broken("/a", "field `a` was removed");
    let ids = |text: &str, findings: &[Finding]| {
        outcome(text, findings).0.iter().map(|finding| finding.id).collect::<Vec<_>>()
    };
    let expired = waived(&one, "for now", "\"2027-01-30\"");
    assert_eq!(ids(&expired, std::slice::from_ref(&one)), [one.id, FindingId::WaiverExpired]);
    assert_eq!(ids(&waived(&one, "for now", "2027-12-31"), &[]), [FindingId::WaiverUnused]);
    let unexplained = waived(&one, " ", "2027-12-31");
    let (findings, _) = outcome(&format!("# why\n\n{unexplained}"), &[one]);
    assert_eq!(findings[0].id, FindingId::WaiverWithoutReason);
    assert_eq!((findings[0].event_type.as_str(), findings[0].event_version), ("orders.placed", 2));
    assert_eq!(findings[0].location, Some(Location { file: "schemas/waivers.toml".to_owned(), line: 3 }));
}

#[test]
fn a_stale_contract_cannot_be_waived() {
    let stale = Finding { id: FindingId::ContractStale, ..broken("", "it is stale") };
    let (findings, waived) = outcome(&waived(&stale, "later", "2027-12-31"), &[stale]);
    assert!(waived.is_empty());
    assert_eq!(findings.len(), 2);
    assert_eq!(blocks(&findings, None, TODAY), "");
}

#[test]
fn the_proposed_block_is_read_and_lacks_only_the_reason() {
    let one = broken("/a", "`a` can now be `\"\n[[waiver]]`");
    let block = blocks(&[one.clone(), one.clone()], Some("ada \"l\" <a@b.c>"), TODAY);
    let (findings, waived) = outcome(&block, std::slice::from_ref(&one));
    assert_eq!(findings[0].id, FindingId::WaiverWithoutReason);
    assert_eq!(waived[0].waiver.owner, "ada \"l\" <a@b.c>");
    assert_eq!(waived[0].waiver.expires, date!(2027 - 05 - 01));
    let crlf = format!("\u{feff}{}", block.replace('\n', "\r\n").trim_end());
    assert_eq!(outcome(&crlf, &[one]).1.len(), 1);
}

#[test]
fn whatever_is_not_understood_is_an_error_with_its_line() {
    let good = waived(&broken("/a", "gone"), "so", "2027-12-31");
    for (old, new, line, message) in [
        ("reason", "reson", 3, "unknown field `reson`"),
        ("[[waiver]]", "[[waivers]]", 1, "unknown field `waivers`"),
        ("owner = \"ada\"", "owner = \"\"", 4, "`owner` is empty"),
        ("owner = \"ada\"\n", "", 1, "missing field `owner`"),
        ("2027-12-31", "\"soon\"", 5, "`soon` is no day"),
        ("2027-12-31", "2027-12-31T10:00:00Z", 5, "is no day"),
        ("2027-12-31", "2027-02-30", 5, ""),
        ("2027-12-31", "7", 5, "is no day"),
        ("orders.placed/v2/", "orders.placed/", 2, "is no fingerprint"),
        ("reason = ", "reason = \"a\"\nreason = ", 4, "duplicate key"),
        ("reason = \"so\"", "reason = \"so", 3, ""),
    ] {
        let text = good.replacen(old, new, 1);
        let (at, fault) = file::parse(&text).unwrap_err();
        assert!(fault.contains(message) && !fault.contains('\n'), "{new}: {fault}");
        assert_eq!(at, line, "{new}: {fault}");
    }
    let (line, fault) = file::parse(&format!("{good}\n{good}")).unwrap_err();
    assert!(line == 7 && fault.contains("waived twice"), "{line}: {fault}");
}
