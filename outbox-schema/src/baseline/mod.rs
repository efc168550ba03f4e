//! The contracts of the last release: from a tag, a commit or a folder.
//!
//! A check that finds no baseline passes nearly everything, so "no release yet" is believed only where it is proven:
//! in a repository with its whole history and its tags. Whatever else hides a release is an error that names the
//! command to run.

mod error;
mod folder;
mod git;
mod tag;

pub(crate) use error::BaselineError;
pub(crate) use folder::{contract_files, from_folder};

use crate::{Contract, contract};
use git::Git;
use std::collections::BTreeMap;
use std::path::Path;

/// Released contracts, and where they are from.
#[derive(Debug)]
pub(crate) struct Baseline {
    /// A tag, a commit or a folder, as people call it.
    pub(crate) name: String,
    /// Their files, by their place inside the folder of schemas.
    pub(crate) files: BTreeMap<String, File>,
}

/// A contract that is read only when it is needed: as text it takes a tenth of the memory.
#[derive(Debug)]
pub(crate) struct File {
    /// What people are told of it.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Baseline {
    /// All contracts, in the order of their places.
    pub(crate) fn contracts(&self) -> Result<Vec<Contract>, BaselineError> {
        self.files.iter().map(|(place, file)| file.contract(place)).collect()
    }
}

impl File {
    /// What it says as the contract that lies at `place` inside the folder of schemas.
    pub(crate) fn contract(&self, place: &str) -> Result<Contract, BaselineError> {
        let named = |source| BaselineError::Contract { name: self.name.clone(), source };
        contract::read(place, &self.text).map_err(named)
    }
}

/// What to compare with.
#[derive(Debug)]
pub(crate) enum Found {
    Baseline(Baseline),
    /// Nothing is released yet, as this sentence says.
    None(String),
}

impl Found {
    pub(crate) fn baseline(&self) -> Option<&Baseline> {
        match self {
            Self::Baseline(baseline) => Some(baseline),
            Self::None(_) => None,
        }
    }
}

/// Which baseline to take.
#[derive(Debug, Default, Clone, clap::Args)]
pub(crate) struct Choice {
    /// A tag, a commit or a folder instead of the highest release tag
    #[arg(long, value_name = "TAG|COMMIT|FOLDER")]
    pub(crate) baseline: Option<String>,
    /// What stands before the version in a release tag, such as `orders-v`, where one repository has releases of several
    /// packages
    #[arg(long, value_name = "PREFIX", conflicts_with = "baseline")]
    pub(crate) tag_prefix: Option<String>,
    /// States that no release has contracts yet
    #[arg(long, conflicts_with = "baseline")]
    pub(crate) first_release: bool,
}

/// Finds the baseline for the folder of schemas `schemas`: the one named, or the highest release tag reachable from HEAD.
pub(crate) fn find(schemas: &Path, choice: &Choice) -> Result<Found, BaselineError> {
    if let Some(named) = &choice.baseline {
        return find_named(schemas, named).map(Found::Baseline);
    }
    let Some(git) = Git::around(schemas)? else {
        return match choice.first_release {
            true => Ok(Found::None("this is no git repository, and `--first-release` is given".to_owned())),
            false => Err(BaselineError::NoRepository { folder: schemas.to_path_buf() }),
        };
    };
    let Some(tag) = tag::last_release(&git, choice)? else {
        return Ok(Found::None(
            "no release tag such as v1.2.0 is there, so there is no release to compare with".to_owned(),
        ));
    };
    match (git.contracts(&format!("refs/tags/{tag}"), &tag), choice.first_release) {
        (Ok(baseline), false) => Ok(Found::Baseline(baseline)),
        (Ok(baseline), true) => Err(BaselineError::NotTheFirst { name: baseline.name }),
        (Err(BaselineError::NoContracts { name, .. }), true) => {
            Ok(Found::None(format!("{name} has no contracts, and `--first-release` is given")))
        }
        (Err(error), _) => Err(error),
    }
}

/// The contracts of a tag, a commit or a folder.
pub(crate) fn find_named(schemas: &Path, named: &str) -> Result<Baseline, BaselineError> {
    if Path::new(named).is_dir() {
        return from_folder(Path::new(named));
    }
    let not_found = || BaselineError::NotFound { named: named.to_owned(), is_shallow: false };
    let git = Git::around(schemas)?.ok_or_else(not_found)?;
    let tag = format!("refs/tags/{named}");
    // A branch of the same name is not what is meant.
    let revision = if git.commit(&tag)?.is_some() { tag.as_str() } else { named };
    git.contracts(revision, named)
}

/// Whom git knows as the author of changes here.
pub(crate) fn author(schemas: &Path) -> Option<String> {
    Git::around(schemas).ok().flatten()?.author()
}

/// Whether `place` is that of a contract inside the folder of schemas: `<type>/v<version>.json`.
fn is_contract_place(place: &str) -> bool {
    let Some((folder, file)) = place.split_once('/') else { return false };
    let version = file.strip_prefix('v').and_then(|rest| rest.strip_suffix(".json"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    !folder.is_empty() && version.is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_version_files_are_contracts() {
        assert!(is_contract_place("orders.placed/v12.json"));
        let others = [
            "a/v.json",
            "a/v1.json.bak",
            "a/readme.json",
            "a/v1a.json",
            "v1.json",
            "/v1.json",
            "a/b/v1.json",
        ];
        assert!(others.into_iter().all(|name| !is_contract_place(name)));
    }
}
