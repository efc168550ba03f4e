//! What the repository around the folder of schemas says, asked of the program git.

use super::{Baseline, BaselineError, File, is_contract_place};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// What tells git of another repository than the one around its folder, as a hook inherits it.
const MISLEADING: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// The repository around the folder of schemas.
pub(super) struct Git {
    /// Where git is run: the deepest folder around the schemas that is there.
    folder: PathBuf,
    /// The folder of schemas as seen from `folder`, with `/` between its parts.
    schemas: String,
}

struct Said {
    success: bool,
    out: String,
    err: String,
}

impl Git {
    /// `None` outside of any repository, where git need not even be installed.
    pub(super) fn around(schemas: &Path) -> Result<Option<Self>, BaselineError> {
        let absolute = std::path::absolute(schemas)
            .map_err(|source| BaselineError::Io { path: schemas.to_path_buf(), source })?;
        let absolute = lexically_plain(&absolute);
        let above = absolute.ancestors().skip(1);
        let Some(folder) = above.clone().find(|folder| folder.is_dir()) else { return Ok(None) };
        if !above.clone().any(|folder| folder.join(".git").exists()) {
            return Ok(None);
        }
        let below = absolute.strip_prefix(folder).unwrap_or(&absolute);
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        let git = Self { folder: folder.to_path_buf(), schemas: parts.join("/") };
        git.ask(&["rev-parse", "--is-inside-work-tree"])?;
        Ok(Some(git))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.folder).args(args).stdin(Stdio::null());
        for name in MISLEADING {
            command.env_remove(name);
        }
        // Its words are read, nobody is there to type a password, and nothing is written.
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
        command
    }

    fn say(&self, args: &[&str]) -> Result<Said, BaselineError> {
        let output = self.command(args).output().map_err(|source| BaselineError::Git { source })?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Said { success: output.status.success(), out: text(&output.stdout), err: text(&output.stderr) })
    }

    /// What git answers; that it can't is an error.
    fn ask(&self, args: &[&str]) -> Result<String, BaselineError> {
        let said = self.say(args)?;
        if said.success { Ok(said.out) } else { Err(BaselineError::refused(&said.err, self.is_partial())) }
    }

    /// Whether a part of the history was left out when the repository was cloned.
    pub(super) fn is_shallow(&self) -> Result<bool, BaselineError> {
        Ok(self.ask(&["rev-parse", "--is-shallow-repository"])?.trim() == "true")
    }

    /// Whether contents are fetched only when they are read.
    fn is_partial(&self) -> bool {
        let promisors = self.say(&["config", "--get-regexp", r"^remote\..*\.promisor$", "true"]);
        promisors.is_ok_and(|said| said.success)
    }

    /// Whether the repository was cloned with `--no-tags`.
    pub(super) fn fetches_no_tags(&self) -> Result<bool, BaselineError> {
        Ok(self.say(&["config", "--get-regexp", r"^remote\..*\.tagopt$", "^--no-tags$"])?.success)
    }

    /// The address under which changes are committed.
    pub(super) fn author(&self) -> Option<String> {
        let said = self.say(&["config", "user.email"]).ok().filter(|said| said.success)?;
        Some(said.out.trim().to_owned())
    }

    /// The tags, or those of them that lie in the history of `head`.
    pub(super) fn tags(&self, head: Option<&str>) -> Result<Vec<String>, BaselineError> {
        let merged = head.map(|head| format!("--merged={head}"));
        let mut args = vec!["for-each-ref", "--format=%(refname:strip=2)"];
        args.extend(merged.as_deref());
        args.push("refs/tags");
        Ok(self.ask(&args)?.lines().map(str::to_owned).collect())
    }

    /// The commit that `revision` names, also through an annotated tag.
    pub(super) fn commit(&self, revision: &str) -> Result<Option<String>, BaselineError> {
        if revision.starts_with('-') {
            return Ok(None); // git would take it for an option
        }
        let said = self.say(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])?;
        Ok(said.success.then(|| said.out.trim().to_owned()))
    }

    /// The contracts of `revision`, which people call `called`.
    pub(super) fn contracts(&self, revision: &str, called: &str) -> Result<Baseline, BaselineError> {
        let Some(commit) = self.commit(revision)? else {
            return Err(BaselineError::NotFound { named: called.to_owned(), is_shallow: self.is_shallow()? });
        };
        let short = commit.get(..10).unwrap_or(&commit);
        let name = if commit.starts_with(called) { short.to_owned() } else { format!("{called} ({short})") };
        let below = format!("./{}/", self.schemas);
        let listed = self.ask(&["ls-tree", "-r", "-z", &commit, "--", &below])?;
        let files: Vec<(&str, &str)> = listed.split('\0').filter_map(|entry| self.entry(entry)).collect();
        if files.is_empty() {
            return Err(BaselineError::NoContracts { name, schemas: Some(self.schemas.clone()) });
        }
        let texts = self.blobs(files.iter().map(|(id, _)| *id))?;
        let files = files.into_iter().zip(texts).map(|((_, place), text)| {
            (place.to_owned(), File { name: format!("{called}:{}/{place}", self.schemas), text })
        });
        Ok(Baseline { name, files: files.collect() })
    }

    /// The id of a contract and its place, from one entry of `ls-tree`.
    fn entry<'a>(&self, entry: &'a str) -> Option<(&'a str, &'a str)> {
        let (about, path) = entry.split_once('\t')?;
        let place = path.strip_prefix(&self.schemas)?.strip_prefix('/')?;
        let id = about.rsplit(' ').next()?;
        is_contract_place(place).then_some((id, place))
    }

    /// The contents of many objects, from one process.
    fn blobs<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Result<Vec<String>, BaselineError> {
        let ids: Vec<&str> = ids.collect();
        let failed = |source| BaselineError::Git { source };
        let mut command = self.command(&["cat-file", "--batch"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let mut stdin = child.stdin.take().expect("the input is piped");
        let mut out = BufReader::new(child.stdout.take().expect("the output is piped"));
        let wanted: String = ids.iter().map(|id| format!("{id}\n")).collect();
        // Written beside the reading: git stops to read when its output is not taken.
        let texts = std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(wanted.as_bytes()));
            ids.iter().map_while(|_| blob(&mut out).transpose()).collect::<Result<Vec<_>, _>>()
        });
        drop(out);
        let said = child.wait_with_output().map_err(failed)?;
        let texts = texts.map_err(failed)?;
        if texts.len() == ids.len() {
            return Ok(texts);
        }
        Err(BaselineError::refused(&String::from_utf8_lossy(&said.stderr), self.is_partial()))
    }
}

/// The next object of `cat-file --batch`; `None` if there is none, or git does not have it.
fn blob(out: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut head = String::new();
    out.read_line(&mut head)?;
    let mut words = head.split_whitespace();
    let (Some("blob"), Some(size)) = (words.nth(1), words.next()) else { return Ok(None) };
    let size = size.parse().map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))?;
    let mut content = vec![0; size];
    out.read_exact(&mut content)?;
    out.read_exact(&mut [0])?;
    Ok(Some(String::from_utf8_lossy(&content).into_owned()))
}

/// The path without `.` and `..`.
fn lexically_plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}
