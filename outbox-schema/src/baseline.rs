//! The contracts of the last release: from a tag, a commit or a folder.

use crate::{Contract, ContractError};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Released contracts, and where they are from.
#[derive(Debug)]
pub(crate) struct Baseline {
    /// A tag, a commit or a folder, as people call it.
    pub(crate) name: String,
    pub(crate) contracts: Vec<Contract>,
}

/// What to compare with.
#[derive(Debug)]
pub(crate) enum Found {
    Baseline(Baseline),
    /// There is no release yet, or no repository, as this sentence says.
    None(String),
}

/// Finds the baseline for the folder of schemas `schemas`: `wanted`, or the highest release tag reachable from HEAD.
pub(crate) fn find(schemas: &Path, wanted: Option<&str>) -> Result<Found, BaselineError> {
    if let Some(wanted) = wanted {
        if Path::new(wanted).is_dir() {
            return from_folder(Path::new(wanted)).map(Found::Baseline);
        }
        let git = Git::at(schemas)?.ok_or_else(|| BaselineError::NotFound { wanted: wanted.to_owned() })?;
        return git.contracts(wanted).map(Found::Baseline);
    }
    let Some(git) = Git::at(schemas)? else {
        return Ok(Found::None(
            "this is no git repository, so there is no release to compare with".to_owned(),
        ));
    };
    match git.release_tag()? {
        Some(tag) => git.contracts(&tag).map(Found::Baseline),
        None => Ok(Found::None(
            "no release tag such as v1.2.0 is reachable, so there is no release to compare with".to_owned(),
        )),
    }
}

/// Reads every contract in a folder; `schemas` inside of it is taken as well.
pub(crate) fn from_folder(folder: &Path) -> Result<Baseline, BaselineError> {
    let inner = folder.join("schemas");
    let root = if inner.is_dir() { inner } else { folder.to_path_buf() };
    let mut contracts = Vec::new();
    for path in contract_files(&root).map_err(|source| BaselineError::Io { path: root.clone(), source })? {
        let text = std::fs::read_to_string(&path)
            .map_err(|source| BaselineError::Io { path: path.clone(), source })?;
        contracts.push(parse(&path.display().to_string(), &text)?);
    }
    if contracts.is_empty() {
        return Err(BaselineError::NoContracts { name: folder.display().to_string() });
    }
    Ok(Baseline { name: folder.display().to_string(), contracts })
}

/// The files `<type>/v<version>.json` below `root`, sorted; none if `root` does not exist.
pub(crate) fn contract_files(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if !root.is_dir() {
        return Ok(files);
    }
    for folder in std::fs::read_dir(root)? {
        let folder = folder?.path();
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(folder)? {
            let file = file?.path();
            if file.file_name().and_then(|name| name.to_str()).is_some_and(is_contract_name) {
                files.push(file);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn is_contract_name(name: &str) -> bool {
    let version = name.strip_prefix('v').and_then(|rest| rest.strip_suffix(".json"));
    version.is_some_and(|version| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()))
}

fn parse(name: &str, text: &str) -> Result<Contract, BaselineError> {
    Contract::parse(text).map_err(|source| BaselineError::Contract { name: name.to_owned(), source })
}

/// The repository around the folder of schemas.
struct Git {
    folder: PathBuf,
    /// The folder of schemas as seen from `folder`.
    schemas: String,
}

impl Git {
    /// `None` outside of any repository.
    fn at(schemas: &Path) -> Result<Option<Self>, BaselineError> {
        let absolute = std::path::absolute(schemas)
            .map_err(|source| BaselineError::Io { path: schemas.to_path_buf(), source })?;
        let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = absolute.parent().unwrap_or(&absolute).to_path_buf();
        let git = Self { folder, schemas: format!("./{name}") };
        Ok(git.run(&["rev-parse", "--is-inside-work-tree"])?.map(|_| git))
    }

    /// The output of a git command; `None` if git says no.
    fn run(&self, args: &[&str]) -> Result<Option<String>, BaselineError> {
        let output = Command::new("git").arg("-C").arg(&self.folder).args(args).output();
        let output = output.map_err(|source| BaselineError::Git { source })?;
        Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    /// The highest version among the tags reachable from HEAD, without prereleases.
    fn release_tag(&self) -> Result<Option<String>, BaselineError> {
        let tags = self.run(&["tag", "--merged", "HEAD"])?.unwrap_or_default();
        let versions = tags.lines().filter_map(|tag| Some((version_of(tag)?, tag.to_owned())));
        Ok(versions.max().map(|(_, tag)| tag))
    }

    fn contracts(&self, revision: &str) -> Result<Baseline, BaselineError> {
        let not_found = || BaselineError::NotFound { wanted: revision.to_owned() };
        if revision.starts_with('-') {
            return Err(not_found());
        }
        let commit = self.run(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])?;
        let commit = commit.ok_or_else(not_found)?.trim().to_owned();
        let listed =
            self.run(&["ls-tree", "-r", "-z", "--name-only", &commit, "--", &format!("{}/", self.schemas)])?;
        let mut contracts = Vec::new();
        for path in listed.unwrap_or_default().split('\0') {
            let mut parts = path.rsplit('/');
            if !parts.next().is_some_and(is_contract_name) || path.split('/').count() != 3 {
                continue;
            }
            let text = self.run(&["cat-file", "blob", &format!("{commit}:./{path}")])?;
            let text = text.ok_or_else(not_found)?;
            contracts.push(parse(&format!("{revision}:{path}"), &text)?);
        }
        if contracts.is_empty() {
            return Err(BaselineError::NoContracts { name: revision.to_owned() });
        }
        let short = commit.get(..10).unwrap_or(&commit);
        let name =
            if commit.starts_with(revision) { short.to_owned() } else { format!("{revision} ({short})") };
        Ok(Baseline { name, contracts })
    }
}

/// The version in a tag such as `v1.2.3`, `1.2.3` or `shop-v1.2.3`; `None` for prereleases and other tags.
fn version_of(tag: &str) -> Option<[u64; 3]> {
    let start = tag.rfind(|byte: char| !byte.is_ascii_digit() && byte != '.').map_or(0, |at| at + 1);
    let before = &tag[..start];
    if !(before.is_empty() || before == "v" || before.ends_with("-v") || before.ends_with("/v")) {
        return None;
    }
    let parts: Option<Vec<u64>> = tag[start..].split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

/// Why there is no baseline.
#[derive(Debug)]
pub(crate) enum BaselineError {
    NotFound { wanted: String },
    NoContracts { name: String },
    Contract { name: String, source: ContractError },
    Io { path: PathBuf, source: std::io::Error },
    Git { source: std::io::Error },
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { wanted } => write!(
                f,
                "there is no tag, commit or folder `{wanted}`; in a shallow clone, get it with \
                 `git fetch --unshallow --tags`"
            ),
            Self::NoContracts { name } => write!(
                f,
                "`{name}` has no contracts; name one that has a folder of schemas with `--baseline`, or commit the \
                 output of `cargo xtask schema-accept` before the next release"
            ),
            Self::Contract { name, source } => write!(f, "{name}: {source}"),
            Self::Io { path, source } => write!(f, "can't read {}: {source}", path.display()),
            Self::Git { source } => {
                write!(f, "can't run git: {source}; install it, or name a folder with `--baseline`")
            }
        }
    }
}

impl std::error::Error for BaselineError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_release_tags_have_a_version() {
        assert_eq!(version_of("v1.20.3"), Some([1, 20, 3]));
        assert_eq!(version_of("1.2.3"), Some([1, 2, 3]));
        assert_eq!(version_of("shop-v1.2.3"), Some([1, 2, 3]));
        for other in ["v1.2.3-rc.1", "v1.2", "nightly", "v1.2.3-4", "draft1.2.3", "v1.2.3+build5"] {
            assert_eq!(version_of(other), None, "{other}");
        }
    }

    #[test]
    fn only_version_files_are_contracts() {
        assert!(is_contract_name("v12.json"));
        assert!(
            ["v.json", "v1.json.bak", "readme.json", "v1a.json"]
                .into_iter()
                .all(|name| !is_contract_name(name))
        );
    }
}
