//! The name of one change, by which a waiver finds it again.

use crate::compat::{Finding, FindingId};
use crate::digest::digest;

/// `<type>/v<version>/<finding id>/<digest>`, where the digest is that of the place and of what changed there.
///
/// Neither the payload that shows it, nor the line of the source, nor any other change plays a part, and the same change
/// has the same name on every machine. A change at the same place that is another one has another name.
pub(crate) fn fingerprint(finding: &Finding) -> String {
    let Finding { event_type, event_version, id, .. } = finding;
    // What the type was seen to do is told in words of serde, which quote the payload.
    let what = match id {
        FindingId::BehaviourRefusesDeclared
        | FindingId::BehaviourRefusesReleased
        | FindingId::BehaviourWritesUndeclared
        | FindingId::BehaviourWritesUnreadable
        | FindingId::SampleRefused => "",
        _ => finding.what.as_str(),
    };
    let change = digest(&format!("{}\n{}", place(&finding.pointer), own(what)));
    format!("{event_type}/v{event_version}/{}/{change}", id.as_str())
}

/// What changed, without the new fields that stand beside it: they are told because they may be the new names of old
/// ones, and are changes of their own.
fn own(what: &str) -> String {
    let is_beside = |sentence: &&str| {
        let plain = sentence.strip_suffix(" and is required").unwrap_or(sentence);
        plain.starts_with("field `") && plain.ends_with("` was added")
    };
    let mut sentences = what.split("; ");
    let first = sentences.next();
    let rest = sentences.filter(|sentence| !is_beside(sentence));
    first.into_iter().chain(rest).collect::<Vec<_>>().join("; ")
}

/// The pointer with `*` for each position in a list: which item it was is a matter of the payload.
fn place(pointer: &str) -> String {
    let part = |part: &str| if part.parse::<u64>().is_ok() { "*".to_owned() } else { part.to_owned() };
    pointer.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// The event type and version that a fingerprint is about; `None` if it is none.
pub(super) fn event_of(fingerprint: &str) -> Option<(String, u32)> {
    let [event_type, version, id, change]: [&str; 4] =
        fingerprint.split('/').collect::<Vec<_>>().try_into().ok()?;
    let is_digest = change.len() == 16 && change.bytes().all(|byte| byte.is_ascii_hexdigit());
    let version = version.strip_prefix('v')?.parse().ok()?;
    (!event_type.is_empty() && FindingId::named(id).is_some() && is_digest)
        .then(|| (event_type.to_owned(), version))
}
