//! `schema-check`: whether the contracts are up to date, and whether one breaks anyone who works with the last release.
//!
//! The check gathers everything into one [`Report`]; how it is printed is not its concern.

use super::contracts::{self, Declared};
use super::files::shown;
use super::output::Output;
use super::places::Places;
use super::project::Project;
use super::{Cli, explain};
use crate::baseline::{self, Baseline, Choice, Found};
use crate::compat::{self, Evidence, Finding, FindingId, Location};
use crate::report::{Compared, Report};
use crate::waiver::{self, Waived};
use crate::{Contract, samples};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    output: Output,
    /// Checks nothing, and says why a finding of that id matters and what to do; without an id, lists them all
    #[arg(long, value_name = "ID", num_args = 0..=1, exclusive = true)]
    explain: Option<Option<String>>,
}

pub(super) fn run(cli: &Cli, args: &Args) -> Result<bool, String> {
    if let Some(id) = &args.explain {
        return explain::run(id.as_deref());
    }
    // A check that could not even begin is an outcome too, which the reports tell.
    let outcome = Project::open(cli).and_then(|project| gather(&project, &args.choice));
    args.output.put(&outcome)?;
    outcome.map(|report| report.passes())
}

/// Everything there is to say about the catalog, the committed contracts and the baseline.
fn gather(project: &Project, choice: &Choice) -> Result<Report, String> {
    let mut declared = contracts::of(&project.catalog, &project.schemas)?;
    let committed = contracts::committed(&project.schemas)?;
    let found = baseline::find(&project.schemas, choice).map_err(|error| error.to_string())?;
    contracts::carry(&mut declared, last_release(&found, choice), &committed);
    let mut findings: Vec<Finding> =
        declared.iter().filter_map(|one| staleness(project, one, &committed)).collect();
    let compared = match found {
        Found::None(reason) => Compared::Nothing { reason },
        Found::Baseline(Baseline { name, contracts }) => {
            let today = project.today.to_string();
            for released in &contracts {
                let same = declared.iter().find(|one| one.contract.file_name() == released.file_name());
                findings.extend(same.map_or_else(
                    || vec![compat::version_removed(released, &today)],
                    |declared| against(released, declared),
                ));
            }
            Compared::Baseline { name }
        }
    };
    for one in &declared {
        let known: Vec<&Finding> =
            findings.iter().filter(|finding| is_about(finding, &one.contract)).collect();
        let own = one.behaviour.as_ref().map(|behaviour| behaviour.of_its_own(&one.contract, &known));
        findings.extend(own.into_iter().flatten());
    }
    findings.extend(strays(&project.schemas, &declared, &findings)?);
    let waivers = waiver::read(&project.schemas)?;
    let waived = waiver::apply(&waivers, &mut findings, project.today);
    let path = project.schemas.join(waiver::FILE);
    // Compared with something else than the last release, a waiver may well have nothing to do.
    let all_are_due = choice.baseline.is_none();
    findings.extend(waiver::faults(&path, &waivers, &waived, all_are_due, project.today));
    let mut report = report(project, declared.len(), compared, findings, waived);
    let own = declared.iter().map(|one| (one.contract.event_type.clone(), one.contract.event_version));
    report.events = own.chain(report.events).collect::<BTreeSet<_>>().into_iter().collect();
    Ok(report)
}

/// The contracts of the release before; another baseline has no say in what is committed.
pub(super) fn last_release<'a>(found: &'a Found, choice: &Choice) -> Option<&'a [Contract]> {
    match found {
        Found::Baseline(baseline) if choice.baseline.is_none() => Some(&baseline.contracts),
        _ => None,
    }
}

/// The report of these findings about `versions` of events.
pub(super) fn report(
    project: &Project,
    versions: usize,
    compared: Compared,
    mut findings: Vec<Finding>,
    mut waived: Vec<Waived>,
) -> Report {
    let places = Places::new(&project.root, &project.schemas);
    for finding in findings.iter_mut().chain(waived.iter_mut().map(|one| &mut one.finding)) {
        finding.location = places.place(finding);
    }
    findings.sort_by_key(|finding| finding.id.severity());
    let found = findings.iter().chain(waived.iter().map(|one| &one.finding));
    let events = found.map(|finding| (finding.event_type.clone(), finding.event_version));
    let events = events.collect::<BTreeSet<_>>().into_iter().collect();
    let author = findings.iter().any(waiver::can_waive).then(|| baseline::author(&project.schemas));
    let to_waive = waiver::blocks(&findings, author.flatten().as_deref(), project.today);
    Report { root: places.root, versions, events, compared, findings, waived, to_waive }
}

/// What the code breaks of one released contract.
pub(super) fn against(released: &Contract, declared: &Declared) -> Vec<Finding> {
    let mut findings = compat::check(released, &declared.contract, Some(declared.event));
    findings.extend(
        declared.behaviour.iter().flat_map(|behaviour| behaviour.against(&declared.contract, released)),
    );
    findings
}

fn is_about(finding: &Finding, contract: &Contract) -> bool {
    finding.event_type == contract.event_type && finding.event_version == contract.event_version
}

/// Recorded payloads of versions that are not declared, unless it is known that the version is gone.
fn strays(schemas: &Path, declared: &[Declared], known: &[Finding]) -> Result<Vec<Finding>, String> {
    let types: BTreeSet<&str> = declared.iter().map(|one| one.event.event_type).collect();
    let mut strays = Vec::new();
    for event_type in types {
        for (event_version, sample) in samples::read(schemas, event_type)? {
            let versions = declared.iter().map(|one| (one.event.event_type, one.event.event_version));
            let found = known.iter().map(|finding| (finding.event_type.as_str(), finding.event_version));
            if versions.chain(found).all(|of| of != (event_type, event_version)) {
                strays.push(Finding {
                    id: FindingId::SampleRefused,
                    event_type: event_type.to_owned(),
                    event_version,
                    what: format!("the recorded {} is of a version that no event declares", sample.name),
                    evidence: Evidence::Contracts,
                    pointer: String::new(),
                    location: None,
                    fix: format!("mend the `eventVersion` of {}, or delete the file", sample.name),
                });
            }
        }
    }
    Ok(strays)
}

/// Whether the committed contract is the one of the code. How its text is laid out plays no part.
fn staleness(
    project: &Project,
    Declared { event, contract, .. }: &Declared,
    committed: &BTreeMap<String, Contract>,
) -> Option<Finding> {
    let path = shown(&project.schemas.join(contract.file_name()));
    let (id, what) = match committed.get(&contract.file_name()) {
        None => (FindingId::ContractMissing, format!("{path} is missing")),
        Some(known) if known != contract => {
            (FindingId::ContractStale, format!("{path} is not the contract of the code"))
        }
        Some(_) => return None,
    };
    Some(Finding {
        id,
        event_type: contract.event_type.clone(),
        event_version: contract.event_version,
        what,
        evidence: Evidence::Contracts,
        pointer: String::new(),
        location: Some(Location { file: event.file.to_owned(), line: event.line }),
        fix: "run `cargo xtask schema-accept` and commit the result".to_owned(),
    })
}
