//! `schema-check`: whether the contracts are up to date, and whether one breaks anyone who works with the last release.
//!
//! The check gathers everything into one [`Report`]; how it is printed is not its concern.

use super::contracts::{self, Declared, Known, Version};
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
    let committed = contracts::committed(&project.schemas)?;
    let found = baseline::find(&project.schemas, choice).map_err(|error| error.to_string())?;
    let known = Known {
        schemas: &project.schemas,
        committed: &committed,
        baseline: found.baseline(),
        is_last_release: choice.baseline.is_none(),
    };
    let mut findings = Vec::new();
    let (mut breaks, mut own) = (BTreeMap::new(), Vec::new());
    for one in contracts::each(&project.catalog, &known, &|version| look(project, version))? {
        findings.extend(one.staleness);
        breaks.insert(one.place, one.breaks);
        own.extend(one.own);
    }
    let compared = match &found {
        Found::None(reason) => Compared::Nothing { reason: reason.clone() },
        Found::Baseline(baseline) => {
            breaks.extend(removed(project, baseline)?);
            Compared::Baseline { name: baseline.name.clone() }
        }
    };
    findings.extend(breaks.into_values().flatten());
    findings.extend(own);
    findings.extend(strays(project, &findings)?);
    let waivers = waiver::read(&project.schemas)?;
    let waived = waiver::apply(&waivers, &mut findings, project.today);
    let path = project.schemas.join(waiver::FILE);
    // Compared with something else than the last release, a waiver may well have nothing to do.
    let all_are_due = choice.baseline.is_none();
    findings.extend(waiver::faults(&path, &waivers, &waived, all_are_due, project.today));
    let events = project.catalog.events();
    let mut report = report(project, events.len(), compared, findings, waived);
    let own = events.iter().map(|event| (event.event_type.to_owned(), event.event_version));
    report.events = own.chain(report.events).collect::<BTreeSet<_>>().into_iter().collect();
    Ok(report)
}

/// What there is to say about one event version.
struct Looked {
    place: String,
    staleness: Option<Finding>,
    /// What it breaks of its release.
    breaks: Vec<Finding>,
    /// What speaks against it whatever was released.
    own: Vec<Finding>,
}

fn look(project: &Project, version: Version) -> Looked {
    let Version { declared, committed, released } = version;
    let staleness = staleness(project, &declared, committed.as_deref());
    let breaks = released.map(|released| against(&released, &declared)).unwrap_or_default();
    let known: Vec<&Finding> = breaks.iter().collect();
    let own = declared.behaviour.as_ref().map(|behaviour| behaviour.of_its_own(&declared.contract, &known));
    Looked { place: declared.contract.file_name(), staleness, own: own.unwrap_or_default(), breaks }
}

/// The released versions that the code no longer declares, by their place.
fn removed(project: &Project, baseline: &Baseline) -> Result<BTreeMap<String, Vec<Finding>>, String> {
    let today = project.today.to_string();
    let declared = contracts::places(&project.catalog);
    let mut findings = BTreeMap::new();
    for (place, file) in baseline.files.iter().filter(|(place, _)| !declared.contains(*place)) {
        let released = file.contract(place).map_err(|error| error.to_string())?;
        findings.insert(place.clone(), vec![compat::version_removed(&released, &today)]);
    }
    Ok(findings)
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

/// Recorded payloads of versions that are not declared, unless it is known that the version is gone.
fn strays(project: &Project, known: &[Finding]) -> Result<Vec<Finding>, String> {
    let declared = project.catalog.events().iter().map(|event| (event.event_type, event.event_version));
    let types: BTreeSet<&str> = declared.clone().map(|(event_type, _)| event_type).collect();
    let known = known.iter().map(|finding| (finding.event_type.as_str(), finding.event_version));
    let versions: BTreeSet<(&str, u32)> = declared.chain(known).collect();
    let mut strays = Vec::new();
    for event_type in types {
        for (event_version, sample) in samples::read(&project.schemas, event_type)? {
            if !versions.contains(&(event_type, event_version)) {
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
    committed: Option<&Contract>,
) -> Option<Finding> {
    let path = shown(&project.schemas.join(contract.file_name()));
    let (id, what) = match committed {
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
