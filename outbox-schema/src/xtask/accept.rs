//! `schema-accept`: writes the contracts of the code into the folder of schemas, all of them or none.
//!
//! A released version is never changed in place by a change that breaks somebody: that would be found only by the next
//! check, when the contract that others rely on is already gone from the work tree.

use super::check;
use super::contracts::{self, Known, Version};
use super::files::{say, shown, write_all};
use super::project::Project;
use crate::baseline::{self, Baseline, BaselineError, Choice, Found};
use crate::compat::{Finding, Severity};
use crate::report::{Colour, Compared, Format};
use crate::waiver;
use std::path::PathBuf;

/// A contract that is not committed as the code has it now.
struct Changed {
    place: String,
    text: String,
    /// What it breaks of its release.
    breaks: Vec<Finding>,
}

pub(super) fn run(project: &Project, choice: &Choice) -> Result<bool, String> {
    let committed = contracts::committed(&project.schemas)?;
    let found = baseline::find(&project.schemas, choice);
    let known = Known {
        schemas: &project.schemas,
        committed: &committed,
        baseline: found.as_ref().ok().and_then(Found::baseline),
        is_last_release: choice.baseline.is_none(),
    };
    let looked = contracts::each(&project.catalog, &known, &changed)?;
    let mut changed: Vec<Changed> = looked.into_iter().flatten().collect();
    if !changed.is_empty()
        && let Some(refusal) = refusal(project, choice, found, &mut changed)?
    {
        say(&refusal);
        return Ok(false);
    }
    let path = |place: &str| project.schemas.join(place);
    let mut said = String::new();
    for Changed { place, .. } in &changed {
        let verb = if committed.contains_key(place) { "changed" } else { "new" };
        said.push_str(&format!("{verb}: {}\n", shown(&path(place))));
    }
    let files: Vec<(PathBuf, String)> =
        changed.into_iter().map(|changed| (path(&changed.place), changed.text)).collect();
    write_all(&files)?;
    let declared = contracts::places(&project.catalog);
    for place in committed.keys().filter(|place| !declared.contains(*place)) {
        said.push_str(&format!(
            "left: {}, which no event declares; delete it if the version was never released\n",
            shown(&path(place))
        ));
    }
    if said.is_empty() {
        said = "nothing changed\n".to_owned();
    }
    say(&said);
    Ok(true)
}

fn changed(version: Version) -> Option<Changed> {
    let Version { declared, committed, released } = version;
    let contract = &declared.contract;
    if committed.as_deref() == Some(contract) {
        return None;
    }
    let breaks = released.map(|released| check::against(&released, &declared)).unwrap_or_default();
    Some(Changed { place: contract.file_name(), text: contract.to_text(), breaks })
}

/// Why the changed contracts can't be written, if they can't.
fn refusal(
    project: &Project,
    choice: &Choice,
    found: Result<Found, BaselineError>,
    changed: &mut [Changed],
) -> Result<Option<String>, String> {
    let Baseline { name, .. } = match found {
        Ok(Found::Baseline(baseline)) => baseline,
        Ok(Found::None(_)) | Err(BaselineError::NoRepository { .. }) => return Ok(None),
        // A release without contracts has promised nothing yet.
        Err(BaselineError::NoContracts { .. }) if choice.baseline.is_none() => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut findings: Vec<Finding> =
        changed.iter_mut().flat_map(|changed| std::mem::take(&mut changed.breaks)).collect();
    let waived = waiver::apply(&waiver::read(&project.schemas)?, &mut findings, project.today);
    let report = check::report(project, changed.len(), Compared::Baseline { name }, findings, waived);
    if report.findings.iter().all(|finding| finding.id.severity() == Severity::Warning) {
        return Ok(None);
    }
    let text = Format::Text.render(&Ok(report), Colour::Off);
    Ok(Some(format!("{text}\nnothing was written: a released version can't change in place like this\n")))
}
