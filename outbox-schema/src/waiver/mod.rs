//! Findings that somebody answers for: `schemas/waivers.toml`.
//!
//! A waiver is about one change and until one day. It hides nothing: what it waives is still told, with who waived it
//! and why. One that has run out, that no finding needs or that gives no reason fails the check, so the file never
//! holds more than what is being let through right now.

mod file;
mod fingerprint;

pub(crate) use file::{FILE, read};
pub(crate) use fingerprint::fingerprint;

use crate::compat::{Evidence, Finding, FindingId, Location, Severity};
use std::path::Path;
use time::macros::format_description;
use time::{Date, Duration};

/// How long a waiver holds that the check proposes: a quarter, in which most consumers are released.
const DAYS: i64 = 90;

/// What somebody answers for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiver {
    pub(crate) fingerprint: String,
    pub(crate) reason: String,
    pub(crate) owner: String,
    /// The last day on which it holds.
    pub(crate) expires: Date,
    /// Its line in the file, from 1.
    pub(crate) line: u32,
}

/// A finding that does not fail the check, and why.
#[derive(Debug, Clone)]
pub(crate) struct Waived {
    pub(crate) finding: Finding,
    pub(crate) waiver: Waiver,
}

impl Waived {
    /// Who waived it until when, and why.
    pub(crate) fn sentence(&self) -> String {
        let Waiver { owner, expires, reason, .. } = &self.waiver;
        format!("by {owner} until {expires}: {reason}")
    }
}

/// Whether a finding can be waived: it has to tell that somebody breaks, or may break.
pub(crate) fn can_waive(finding: &Finding) -> bool {
    matches!(finding.id.severity(), Severity::Breaking | Severity::NotProven)
}

/// Takes the findings that are waived today out of `findings`.
pub(crate) fn apply(waivers: &[Waiver], findings: &mut Vec<Finding>, today: Date) -> Vec<Waived> {
    let mut waived = Vec::new();
    findings.retain(|finding| {
        let own = can_waive(finding).then(|| fingerprint(finding));
        let waiver = waivers.iter().find(|waiver| Some(&waiver.fingerprint) == own.as_ref());
        match waiver.filter(|waiver| waiver.expires >= today) {
            Some(waiver) => {
                waived.push(Waived { finding: finding.clone(), waiver: waiver.clone() });
                false
            }
            None => true,
        }
    });
    waived
}

/// What is wrong with the waivers of the file at `path` themselves, after they were applied.
///
/// That nothing needs one can only be said of a comparison with the last release, which `all_are_due` is true for.
pub(crate) fn faults(
    path: &Path,
    waivers: &[Waiver],
    waived: &[Waived],
    all_are_due: bool,
    today: Date,
) -> Vec<Finding> {
    let finding = |id, waiver: &Waiver, what, fix: &str| fault(path, id, waiver, what, fix.to_owned());
    let fault = |waiver: &Waiver| {
        let is_used = !all_are_due || waived.iter().any(|one| one.waiver.fingerprint == waiver.fingerprint);
        if waiver.expires < today {
            let what = format!("the waiver of {} ran out on {}", waiver.owner, waiver.expires);
            let fix = "mend the change, or take the new block of the check with a new reason";
            return Some(finding(FindingId::WaiverExpired, waiver, what, fix));
        }
        if !is_used {
            let what = format!("nothing needs the waiver of {} any more", waiver.owner);
            let fix = "delete it: the change is released or gone, or it is another one by now";
            return Some(finding(FindingId::WaiverUnused, waiver, what, fix));
        }
        let what = format!("the waiver of {} gives no reason", waiver.owner);
        let fix = "say in `reason` why nobody is harmed";
        waiver.reason.is_empty().then(|| finding(FindingId::WaiverWithoutReason, waiver, what, fix))
    };
    waivers.iter().filter_map(fault).collect()
}

fn fault(path: &Path, id: FindingId, waiver: &Waiver, what: String, fix: String) -> Finding {
    let (event_type, event_version) = fingerprint::event_of(&waiver.fingerprint).unwrap_or_default();
    Finding {
        id,
        event_type,
        event_version,
        what,
        evidence: Evidence::Contracts,
        pointer: String::new(),
        location: Some(Location { file: path.display().to_string(), line: waiver.line }),
        fix,
    }
}

/// The text to paste into the file for each finding that can be waived; empty if there is none.
pub(crate) fn blocks(findings: &[Finding], owner: Option<&str>, today: Date) -> String {
    let expires = today.saturating_add(Duration::days(DAYS));
    let mut blocks: Vec<String> = Vec::new();
    for finding in findings.iter().filter(|finding| can_waive(finding)) {
        let what = finding.what.replace(|letter: char| letter.is_control(), " ");
        let block = format!(
            "# {} version {}: {what} [{}]\n[[waiver]]\nfingerprint = \"{}\"\nreason = \"\"\nowner = {}\nexpires = {expires}\n",
            finding.event_type,
            finding.event_version,
            finding.id.as_str(),
            fingerprint(finding),
            serde_json::Value::from(owner.unwrap_or_default()),
        );
        // Two findings may be about the same change.
        if !blocks.contains(&block) {
            blocks.push(block);
        }
    }
    blocks.join("\n")
}

/// The day that `text` names, as `2027-01-31`.
pub(crate) fn day(text: &str) -> Result<Date, String> {
    Date::parse(text, format_description!("[year]-[month]-[day]"))
        .map_err(|_| format!("`{text}` is no day such as 2027-01-31"))
}

#[cfg(test)]
mod tests;
