//! Why there is no baseline, each with the command that helps.

use crate::ContractError;
use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub(crate) enum BaselineError {
    /// There is no repository around the folder of schemas.
    NoRepository { folder: PathBuf },
    /// The history was cut off when it was cloned.
    Shallow,
    /// The clone leaves tags out.
    NoTagsFetched,
    /// There is a release, and HEAD does not contain it.
    NotReachable { tag: String },
    /// No release tag begins so, and there are others.
    PrefixUnknown { prefix: String, other: String },
    /// Several packages have releases: the last tag of each, and what stands before its version.
    Ambiguous { releases: Vec<(String, String)> },
    /// `--first-release` is given, and a release has contracts.
    NotTheFirst { name: String },
    /// There is no such tag, commit or folder.
    NotFound { named: String, is_shallow: bool },
    /// The baseline has no contracts; in a repository, in that folder.
    NoContracts { name: String, schemas: Option<String> },
    /// A contract of the baseline can't be used.
    Contract { name: String, source: ContractError },
    /// A file can't be read.
    Io { path: PathBuf, source: io::Error },
    /// git can't be run.
    Git { source: io::Error },
    /// The checkout belongs to somebody else; git names the command that trusts it.
    ForeignOwner { command: String },
    /// A file of the release was left out when the repository was cloned, and can't be fetched now.
    NotFetched { said: String },
    /// git says no.
    Refused { said: String },
}

impl BaselineError {
    /// What git means by its last words.
    pub(super) fn refused(words: &str, is_partial: bool) -> Self {
        let trust = words
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with("git config --global --add safe.directory"));
        if let Some(command) = trust {
            return Self::ForeignOwner { command: command.to_owned() };
        }
        let line =
            words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it does not say why");
        let said = line.trim_start_matches("fatal: ").to_owned();
        if is_partial { Self::NotFetched { said } } else { Self::Refused { said } }
    }
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRepository { folder } => write!(
                f,
                "{} is in no git repository, so the last release is not known; run this in a clone, or name a folder of \
                 released contracts with `--baseline`; if nothing is released yet, say so with `--first-release`",
                folder.display()
            ),
            Self::Shallow => f.write_str(
                "this clone is shallow, so the last release is not known; run `git fetch --unshallow --tags` (in \
                 GitHub Actions: `fetch-depth: 0` for actions/checkout), or name a commit with `--baseline`",
            ),
            Self::NoTagsFetched => f.write_str(
                "this clone was made without tags, so the last release is not known; run `git fetch --tags`; if \
                 nothing is released yet, say so with `--first-release`",
            ),
            Self::NotReachable { tag } => write!(
                f,
                "the release tag `{tag}` is not in the history of HEAD, so it may not be the last release before it; \
                 run `git merge {tag}`, or take it all the same with `--baseline {tag}`"
            ),
            Self::PrefixUnknown { prefix, other } => write!(
                f,
                "no release tag has the prefix `{prefix}`, while there is `{other}`; correct `--tag-prefix`; if nothing \
                 is released under it yet, say so with `--first-release`"
            ),
            Self::Ambiguous { releases } => f.write_str(&ambiguous(releases)),
            Self::NotTheFirst { name } => {
                write!(f, "{name} has contracts, so this is not the first release; remove `--first-release`")
            }
            Self::NotFound { named, is_shallow: true } => write!(
                f,
                "there is no tag, commit or folder `{named}`; this clone is shallow: run `git fetch --unshallow --tags`"
            ),
            Self::NotFound { named, is_shallow: false } => write!(
                f,
                "there is no tag, commit or folder `{named}`; list the tags with `git tag`, or run `git fetch --tags`"
            ),
            Self::NoContracts { name, schemas: Some(schemas) } => write!(
                f,
                "{name} has no contracts in `{schemas}`; name a commit or a folder that has them with `--baseline`; if \
                 no release has any yet, say so with `--first-release`"
            ),
            Self::NoContracts { name, schemas: None } => write!(
                f,
                "the folder `{name}` has no contracts `<type>/v<version>.json`; name one that has, a tag or a commit"
            ),
            Self::Contract { name, source } => {
                write!(f, "{name}: {source}; name another baseline with `--baseline`")
            }
            Self::Io { path, source } => write!(f, "can't read {}: {source}", path.display()),
            Self::Git { source } => {
                write!(f, "can't run git: {source}; install it, or name a folder with `--baseline`")
            }
            Self::ForeignOwner { command } => {
                write!(f, "git does not trust this checkout, as it belongs to another user; run `{command}`")
            }
            Self::NotFetched { said } => write!(
                f,
                "this clone leaves files of the release out, and git could not fetch them ({said}); run `git fetch \
                 --refetch --no-filter` where the remote can be reached"
            ),
            Self::Refused { said } => {
                write!(f, "git can't tell the last release ({said}); repair the clone, or name a folder with `--baseline`")
            }
        }
    }
}

fn ambiguous(releases: &[(String, String)]) -> String {
    let tags: Vec<String> = releases.iter().map(|(tag, _)| format!("`{tag}`")).collect();
    let flags: Vec<String> = releases.iter().map(|(_, prefix)| flag(prefix)).collect();
    format!(
        "this repository has releases of several packages ({}), and which one has these events is not known; say it with {}",
        tags.join(", "),
        flags.join(" or ")
    )
}

fn flag(prefix: &str) -> String {
    let prefix = if prefix.is_empty() { "''" } else { prefix };
    format!("`--tag-prefix {prefix}`")
}

impl std::error::Error for BaselineError {}
