//! `schema-accept`: writes the contracts of the code into the folder of schemas, all of them or none.
//!
//! A released version is never changed in place by a change that breaks somebody: that would be found only by the next
//! check, when the contract that others rely on is already gone from the work tree.

use super::check;
use super::contracts::{self, Declared};
use super::files::{say, shown, write_all};
use super::project::Project;
use crate::baseline::{self, Baseline, BaselineError, Choice, Found};
use crate::compat::Severity;
use crate::report::{Colour, Compared, Format};
use crate::waiver;
use std::path::PathBuf;

pub(super) fn run(project: &Project, choice: &Choice) -> Result<bool, String> {
    let mut declared = contracts::of(&project.catalog, &project.schemas)?;
    let committed = contracts::committed(&project.schemas)?;
    let found = baseline::find(&project.schemas, choice);
    let released = found.as_ref().ok().and_then(|found| check::last_release(found, choice));
    contracts::carry(&mut declared, released, &committed);
    let is_known = |one: &&Declared| committed.get(&one.contract.file_name()) == Some(&one.contract);
    let changed: Vec<&Declared> = declared.iter().filter(|one| !is_known(one)).collect();
    if !changed.is_empty()
        && let Some(refusal) = refusal(project, choice, found, &changed)?
    {
        say(&refusal);
        return Ok(false);
    }
    let place = |one: &&Declared| project.schemas.join(one.contract.file_name());
    let files: Vec<(PathBuf, String)> =
        changed.iter().map(|one| (place(one), one.contract.to_text())).collect();
    write_all(&files)?;
    let mut said = String::new();
    for one in &changed {
        let verb = if committed.contains_key(&one.contract.file_name()) { "changed" } else { "new" };
        said.push_str(&format!("{verb}: {}\n", shown(&place(one))));
    }
    for file in committed.keys().filter(|file| !declared.iter().any(|one| one.contract.file_name() == **file))
    {
        said.push_str(&format!(
            "left: {}, which no event declares; delete it if the version was never released\n",
            shown(&project.schemas.join(file))
        ));
    }
    if said.is_empty() {
        said = "nothing changed\n".to_owned();
    }
    say(&said);
    Ok(true)
}

/// Why the changed contracts can't be written, if they can't.
fn refusal(
    project: &Project,
    choice: &Choice,
    found: Result<Found, BaselineError>,
    changed: &[&Declared],
) -> Result<Option<String>, String> {
    let Baseline { name, contracts } = match found {
        Ok(Found::Baseline(baseline)) => baseline,
        Ok(Found::None(_)) | Err(BaselineError::NoRepository { .. }) => return Ok(None),
        // A release without contracts has promised nothing yet.
        Err(BaselineError::NoContracts { .. }) if choice.baseline.is_none() => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut findings = Vec::new();
    for released in &contracts {
        let in_place = |one: &&&Declared| one.contract.file_name() == released.file_name();
        findings
            .extend(changed.iter().find(in_place).into_iter().flat_map(|one| check::against(released, one)));
    }
    let waived = waiver::apply(&waiver::read(&project.schemas)?, &mut findings, project.today);
    let report = check::report(project, changed.len(), Compared::Baseline { name }, findings, waived);
    if report.findings.iter().all(|finding| finding.id.severity() == Severity::Warning) {
        return Ok(None);
    }
    let text = Format::Text.render(&Ok(report), Colour::Off);
    Ok(Some(format!("{text}\nnothing was written: a released version can't change in place like this\n")))
}
