//! `schema-check`: whether the contracts are up to date, and whether one breaks anyone who works with the last release.
//!
//! The check gathers everything into one [`Report`]; how it is printed is not its concern.

use super::contracts::{self, Declared};
use super::files::{is_same, read, say, shown};
use super::project::Project;
use crate::Contract;
use crate::baseline::{self, Baseline, Found};
use crate::compat::{self, Evidence, Finding, FindingId, Location};
use crate::report::text::{self, Colour};
use crate::report::{Compared, Report};
use std::io::{self, IsTerminal};
use std::path::Path;

pub(super) fn run(project: &Project, wanted: Option<&str>) -> Result<bool, String> {
    let report = gather(project, wanted)?;
    let coloured =
        io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    say(&text::render(&report, if coloured { Colour::On } else { Colour::Off }));
    Ok(report.passes())
}

/// Everything there is to say about the catalog, the committed contracts and the baseline.
fn gather(Project { catalog, schemas, .. }: &Project, wanted: Option<&str>) -> Result<Report, String> {
    let declared = contracts::of(catalog)?;
    let mut findings = Vec::new();
    for one in &declared {
        findings.extend(staleness(schemas, one)?);
    }
    let compared = match baseline::find(schemas, wanted).map_err(|error| error.to_string())? {
        Found::None(reason) => Compared::Nothing { reason },
        Found::Baseline(Baseline { name, contracts }) => {
            for released in &contracts {
                findings.extend(against(released, &declared));
            }
            Compared::Baseline { name }
        }
    };
    Ok(Report { versions: declared.len(), compared, findings })
}

/// What the code breaks of one released contract.
fn against(released: &Contract, declared: &[Declared]) -> Vec<Finding> {
    let same = declared.iter().find(|one| {
        one.contract.event_type == released.event_type && one.contract.event_version == released.event_version
    });
    match same {
        Some(one) => compat::check(released, &one.contract, Some(one.event)),
        None => vec![compat::version_removed(released)],
    }
}

/// Whether the committed contract is the one of the code.
fn staleness(schemas: &Path, Declared { event, contract }: &Declared) -> Result<Option<Finding>, String> {
    let path = schemas.join(contract.file_name());
    let (id, what) = match read(&path)? {
        None => (FindingId::ContractMissing, format!("{} is missing", shown(&path))),
        Some(known) if !is_same(&known, &contract.to_text()) => {
            (FindingId::ContractStale, format!("{} is not the contract of the code", shown(&path)))
        }
        Some(_) => return Ok(None),
    };
    Ok(Some(Finding {
        id,
        event_type: contract.event_type.clone(),
        event_version: contract.event_version,
        what,
        evidence: Evidence::Contracts,
        pointer: String::new(),
        location: Some(Location { file: event.file.to_owned(), line: event.line }),
        fix: "run `cargo xtask schema-accept` and commit the result".to_owned(),
    }))
}
