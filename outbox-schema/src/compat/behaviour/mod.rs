//! What a type does, beside what its schema says: payloads made from contracts are read by the type and written again.
//!
//! ```text
//!  released contract ──payloads──▶ today's type ──▶ refused, though today's schema takes it
//!                                       │
//!                                       └─writes──▶ released `reads`: refused, though today's schema never writes it
//! ```
//!
//! Where the schemas agree with serde, the three questions have said it all; this finds where they do not: a module of
//! `#[serde(with)]` or an implementation by hand that its schema does not describe, and a conversion that may fail.
//! A conversion that refuses a part of what its schema allows is no lie, as no schema says everything: such places are
//! kept in the contract, with what they take. A place that took everything when it was released may not begin to refuse,
//! and one that took a part must go on to take that.

mod observe;
mod place;

use super::finding::{Evidence, Finding, FindingId};
use super::formats::{self, Formats};
use super::gate::locate;
use super::normalise::normalise;
use super::{Witness, close_writer, generate, shrink, witness};
use crate::{Contract, EventDescriptor};
use jsonschema::Validator;
use observe::{Observation, Refusal, Spot};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Payloads made from one schema.
const PAYLOADS_MAX: usize = 32;

/// Findings that say of a place already that the type refuses what it must read.
const READER_FINDINGS: &[FindingId] =
    &[FindingId::ReaderRefusesReleased, FindingId::ReaderNarrowed, FindingId::BehaviourRefusesReleased];

/// A payload that somebody recorded.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// Its file, as people are told of it.
    pub(crate) name: String,
    /// The payload as it travels.
    pub(crate) payload: Value,
}

/// What one type was seen to do.
#[derive(Debug)]
pub(crate) struct Behaviour {
    event: &'static EventDescriptor,
    samples: Vec<Sample>,
    /// What the type did with its own contract and the samples.
    own: Observation,
    /// What the type wrote and its own schema does not allow.
    undeclared: Vec<Value>,
}

impl Behaviour {
    /// Tries out the type of `event`, whose contract is `contract`, with `payloads` made from it, and notes in the
    /// contract what it refuses.
    ///
    /// `None` where a schema of the contract can't be compiled; nothing else can be said of it then.
    pub(crate) fn of(
        event: &'static EventDescriptor,
        contract: &mut Contract,
        payloads: Vec<Value>,
        samples: Vec<Sample>,
    ) -> Option<Self> {
        let (writes, reads) = (Schema::closed(&contract.writes), Schema::of(&contract.reads));
        writes.validator()?;
        let mut own = Observation::new(event, &contract.writes);
        // A payload that is recorded later changes nothing in the contract.
        let alone = (!samples.is_empty()).then(|| payloads.clone());
        for sample in &samples {
            own.try_out(sample.payload.clone(), &reads);
        }
        own.forget_refusals();
        own.try_all(payloads, &reads);
        own.look_again(&reads);
        let undeclared = own.written().filter(|written| !writes.takes(written)).collect();
        contract.refuses = own.refused().map(|(spot, _)| spot.pointer.clone()).collect();
        contract.takes = match alone.filter(|_| !contract.refuses.is_empty()) {
            Some(payloads) => {
                let mut alone = Observation::new(event, &contract.writes);
                alone.try_all(payloads, &reads);
                alone.look_again(&reads);
                alone.taken(&reads)
            }
            None => own.taken(&reads),
        };
        own.shrink();
        Some(Self { event, samples, own, undeclared })
    }

    /// What speaks against a release whatever it is compared with, beside what is `known` of this version.
    pub(crate) fn of_its_own(&self, contract: &Contract, known: &[&Finding]) -> Vec<Finding> {
        let is_known = |pointer: &str| {
            let mut same =
                known.iter().filter(|finding| place::general(&finding.pointer) == place::general(pointer));
            same.any(|finding| READER_FINDINGS.contains(&finding.id))
        };
        let mut findings = Vec::new();
        for sample in &self.samples {
            let refusal = self.own.refusal_of(&sample.payload).filter(|refusal| !is_known(&refusal.at));
            findings.extend(refusal.map(|refusal| self.of_sample(sample, &refusal)));
        }
        for (spot, refusal) in self.own.refused().filter(|(spot, _)| !self.own.has_accepted(spot)) {
            if !is_known(&refusal.at) {
                findings.push(self.refused(contract, FindingId::BehaviourRefusesDeclared, spot, refusal));
            }
        }
        let is_told = known.iter().any(|finding| finding.id == FindingId::BehaviourWritesUnreadable);
        let undeclared = self.undeclared.first().filter(|_| !is_told);
        let undeclared = undeclared.and_then(|written| Schema::closed(&contract.writes).refusal(written));
        findings
            .extend(undeclared.map(|witness| self.written(FindingId::BehaviourWritesUndeclared, witness)));
        findings
    }

    /// What the type breaks of `released`, apart from what the schemas say themselves.
    pub(crate) fn against(&self, contract: &Contract, released: &Contract) -> Vec<Finding> {
        let is_same = released.reads == contract.reads && released.writes == contract.writes;
        let has_refused = self.own.refused().next().is_some() || !released.takes.is_empty();
        if is_same && !has_refused && self.undeclared.is_empty() {
            return Vec::new();
        }
        let (readers, writes) = (Schema::of(&released.reads), Schema::closed(&contract.writes));
        let reads = Schema::of(&contract.reads);
        let mut findings = Vec::new();
        let theirs = (!is_same).then(|| {
            let mut theirs = self.own.start_again();
            theirs.try_all(payloads_of(&released.writes), &reads);
            theirs.try_all(payloads_of(&released.reads), &reads);
            theirs.look_again(&reads);
            theirs
        });
        let seen = theirs.as_ref().unwrap_or(&self.own);
        let mut told = BTreeSet::new();
        for (spot, refusal) in seen.refused() {
            if !released.refuses.contains(&spot.pointer) && told.insert(&spot.pointer) {
                findings.push(self.refused(contract, FindingId::BehaviourRefusesReleased, spot, refusal));
            }
        }
        for (pointer, values) in &released.takes {
            if let Some((spot, refusal)) = self.own.refused_of(pointer, values, &reads)
                && told.insert(pointer)
            {
                findings.push(self.refused(contract, FindingId::BehaviourRefusesReleased, &spot, &refusal));
            }
        }
        // What today's schema says is written is judged by the three questions.
        let theirs = theirs.iter().flat_map(Observation::written).filter(|written| !writes.takes(written));
        let mut unreadable = self.undeclared.iter().cloned().chain(theirs);
        let unreadable = unreadable.find_map(|written| readers.refusal(&written));
        findings
            .extend(unreadable.map(|witness| self.written(FindingId::BehaviourWritesUnreadable, witness)));
        findings
    }

    fn of_sample(&self, sample: &Sample, refusal: &Refusal) -> Finding {
        let finding = self.finding(FindingId::SampleRefused, &refusal.at, refusal.evidence());
        Finding {
            what: format!("the recorded {} can't be read: {}", sample.name, refusal.error),
            fix: format!(
                "let the type read it; or delete {} if no such payload is left anywhere",
                sample.name
            ),
            ..finding
        }
    }

    fn refused(&self, contract: &Contract, id: FindingId, spot: &Spot, refusal: &Refusal) -> Finding {
        let refusal = self.own.shrunk(spot, refusal, &Schema::of(&contract.reads));
        let name = place::name(&spot.pointer);
        let (what, fix) = if id == FindingId::BehaviourRefusesReleased {
            (
                format!("{name} refuses values that it took when it was released: {}", refusal.error),
                format!(
                    "let {name} read again what it read; or put the stricter type into a new field or version"
                ),
            )
        } else {
            let what = match spot.kind.as_str() {
                observe::ABSENT => format!("{name} may be absent by its own schema, and is refused then"),
                kind => format!("{name} refuses each {kind} made from its own schema"),
            };
            (
                format!("{what}: {}", refusal.error),
                format!(
                    "describe what {name} reads, as by `#[schemars(with = \"…\")]` with the type that serde really \
                     reads or `#[schemars(regex(pattern = \"…\"))]`; or record a payload that it reads in \
                     schemas/{}/samples/",
                    self.event.event_type
                ),
            )
        };
        Finding { what, fix, ..self.finding(id, &refusal.at, refusal.evidence()) }
    }

    fn written(&self, id: FindingId, witness: Witness) -> Finding {
        let name = place::name(&witness.pointer);
        let what = format!("{name} is written in a way that its schema does not say: {}", witness.error);
        let fix = format!(
            "describe what is written, as by `#[schemars(with = \"…\")]` on {name} with the type that serde really \
             writes; or write what the schema says"
        );
        let pointer = witness.pointer.clone();
        Finding { what, fix, ..self.finding(id, &pointer, Evidence::Refused(witness)) }
    }

    fn finding(&self, id: FindingId, pointer: &str, evidence: Evidence) -> Finding {
        Finding {
            id,
            event_type: self.event.event_type.to_owned(),
            event_version: self.event.event_version,
            what: String::new(),
            evidence,
            pointer: pointer.to_owned(),
            location: Some(locate(self.event, place::parts(pointer).next().as_deref())),
            fix: String::new(),
        }
    }
}

/// Payloads with no other fields than `schema` declares.
pub(crate) fn payloads_of(schema: &Value) -> Vec<Value> {
    generate::payloads(&close_writer(schema), PAYLOADS_MAX)
}

/// A schema, and its validator once it is asked for: most types do what their schemas say, and leave few questions.
#[derive(Debug)]
struct Schema<'a> {
    schema: &'a Value,
    is_closed: bool,
    validator: OnceCell<Option<Validator>>,
}

impl<'a> Schema<'a> {
    fn of(schema: &'a Value) -> Self {
        Self { schema, is_closed: false, validator: OnceCell::new() }
    }

    /// With no other fields than it declares.
    fn closed(schema: &'a Value) -> Self {
        Self { is_closed: true, ..Self::of(schema) }
    }

    /// `None` where it can't be compiled; it takes nothing then, and refuses nothing.
    fn validator(&self) -> Option<&Validator> {
        let build = || {
            let closed = self.is_closed.then(|| close_writer(self.schema));
            let normal = normalise(closed.as_ref().unwrap_or(self.schema)).ok()?;
            formats::options(Formats::Asserted).build(&normal).ok()
        };
        self.validator.get_or_init(build).as_ref()
    }

    fn takes(&self, payload: &Value) -> bool {
        self.validator().is_some_and(|validator| validator.is_valid(payload))
    }

    /// Why `payload` is none of this schema.
    fn refusal(&self, payload: &Value) -> Option<Witness> {
        let (error, pointer) = witness::refusal(self.validator()?, payload)?;
        Some(Witness { payload: payload.clone(), error, pointer })
    }
}

#[cfg(test)]
mod tests;
