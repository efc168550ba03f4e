//! What every form of the report says about a finding, beside its sentence and its place.

use crate::compat::{Evidence, Finding, FindingId};
use crate::contract::AsItTravels;
use serde_json::Value;

/// Labels with what stands behind them, in the order in which people read them.
pub(super) fn details(finding: &Finding) -> Vec<(&'static str, String)> {
    let mut details = Vec::new();
    if !finding.id.whom().is_empty() {
        details.push(("breaks", finding.id.whom().to_owned()));
    }
    match &finding.evidence {
        Evidence::Refused(witness) => {
            details.push(("payload", payload_text(&witness.payload)));
            details.push(("reader", witness.error.clone()));
        }
        Evidence::Dropped(payload) => {
            details.push(("payload", payload_text(payload)));
            let nobody = finding.id == FindingId::VersionRemoved;
            let reader = if nobody { "there is none here" } else { "takes it, and what was there is lost" };
            details.push(("reader", reader.to_owned()));
        }
        Evidence::Undecided(reason) => details.push(("reason", reason.clone())),
        Evidence::Contracts => {}
    }
    if !finding.pointer.is_empty() {
        details.push(("pointer", finding.pointer.clone()));
    }
    details.push(("fix", finding.fix.clone()));
    details
}

/// Which event it is, and what happened to it, in one line.
pub(super) fn sentence(finding: &Finding) -> String {
    format!("{} version {}: {}", finding.event_type, finding.event_version, finding.what)
}

/// The sentence and all details, a line each.
pub(super) fn paragraph(finding: &Finding) -> String {
    let lines = details(finding).into_iter().map(|(label, rest)| format!("\n{label}: {rest}"));
    std::iter::once(sentence(finding)).chain(lines).collect()
}

pub(super) fn payload_text(payload: &Value) -> String {
    serde_json::to_string(&AsItTravels(payload)).expect("a JSON value is always written")
}
