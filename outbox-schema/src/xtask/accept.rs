//! `schema-accept`: writes the contracts of the code into the folder of schemas.

use super::contracts::{self, Declared};
use super::files::{is_same, read, say, shown, write};
use super::project::Project;
use crate::baseline;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(super) fn run(Project { catalog, schemas, .. }: &Project) -> Result<bool, String> {
    let contracts = contracts::of(catalog, schemas)?;
    let mut said = String::new();
    for Declared { contract, .. } in &contracts {
        let path = schemas.join(contract.file_name());
        let text = contract.to_text();
        let known = read(&path)?;
        if known.as_deref().is_some_and(|known| is_same(known, &text)) {
            continue;
        }
        write(&path, &text)?;
        let verb = if known.is_some() { "changed" } else { "new" };
        said.push_str(&format!("{verb}: {}\n", shown(&path)));
    }
    for path in undeclared(schemas, &contracts)? {
        said.push_str(&format!(
            "left: {}, which no event declares; delete it if the version was never released\n",
            shown(&path)
        ));
    }
    if said.is_empty() {
        said = "nothing changed\n".to_owned();
    }
    say(&said);
    Ok(true)
}

/// Files of versions that the catalog does not have.
fn undeclared(schemas: &Path, contracts: &[Declared]) -> Result<Vec<PathBuf>, String> {
    let known: BTreeSet<PathBuf> =
        contracts.iter().map(|declared| schemas.join(declared.contract.file_name())).collect();
    let files = baseline::contract_files(schemas)
        .map_err(|error| format!("can't read {}: {error}", schemas.display()))?;
    Ok(files.into_iter().filter(|file| !known.contains(file)).collect())
}
