//! The commands of a project's own xtask: accept contracts, check them, write the catalog.
//!
//! ```no_run
//! use std::process::ExitCode;
//! // use acme_events as _;   // the linker drops a crate of events that nobody names
//! fn main() -> ExitCode { outbox_schema::xtask::main() }
//! ```
//!
//! Exit codes: 0 passed, 1 breaking, not proven or stale, 2 could not run.

use crate::baseline::{self, Found};
use crate::compat::{self, Evidence, Finding, FindingId, Location};
use crate::docs::markdown;
use crate::report::Report;
use crate::report::text::{self, Colour};
use crate::{Catalog, Contract, EventDescriptor};
use clap::{Parser, Subcommand};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Keeps the contracts of the events of this workspace"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The folder of contracts, by default `schemas` beside Cargo.lock
    #[arg(long, global = true, value_name = "DIR")]
    schemas: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Writes the contract of every event into the folder of schemas
    SchemaAccept,
    /// Fails if a contract is stale, or breaks anyone who works with the last release
    SchemaCheck {
        /// A tag, a commit or a folder instead of the highest release tag
        #[arg(long, value_name = "TAG|COMMIT|FOLDER")]
        baseline: Option<String>,
    },
    /// Writes a page about every event for readers in other teams
    Catalog {
        /// Where to write it, by default `docs` beside Cargo.lock
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// The names of the commands, for an xtask that has commands of its own and passes these on.
pub const COMMANDS: &[&str] = &["schema-accept", "schema-check", "catalog"];

/// Runs the command that the arguments of this process name.
#[must_use]
pub fn main() -> ExitCode {
    run(std::env::args_os().skip(1))
}

/// Runs the command that `args` name; the name of the program is not one of them.
#[must_use]
pub fn run<I>(args: I) -> ExitCode
where
    I: IntoIterator,
    I::Item: Into<OsString>,
{
    let args = std::iter::once(OsString::from("cargo xtask")).chain(args.into_iter().map(Into::into));
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is no reason to fail.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match carry_out(&cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn carry_out(cli: &Cli) -> Result<bool, String> {
    let catalog = Catalog::collect().and_then(Catalog::not_empty).map_err(|error| error.to_string())?;
    let root = workspace_root()?;
    let schemas = cli.schemas.clone().unwrap_or_else(|| root.join("schemas"));
    match &cli.command {
        Command::SchemaAccept => accept(&catalog, &schemas),
        Command::SchemaCheck { baseline } => check(&catalog, &schemas, baseline.as_deref()),
        Command::Catalog { out } => {
            let page = markdown::render(&catalog).map_err(|error| error.to_string())?;
            let path = out.clone().unwrap_or_else(|| root.join("docs")).join("catalog.md");
            write_file(&path, &page)?;
            say(&format!("wrote {}\n", shown(&path)));
            Ok(true)
        }
    }
}

/// The folder with Cargo.lock above the package of the xtask, however deep in it cargo was started.
fn workspace_root() -> Result<PathBuf, String> {
    let here = std::env::current_dir().map_err(|error| format!("can't tell the current folder: {error}"))?;
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| here.clone(), PathBuf::from);
    let root = package.ancestors().find(|folder| folder.join("Cargo.lock").is_file()).map(Path::to_path_buf);
    Ok(root.unwrap_or(here))
}

/// Every event with its contract.
fn contracts(catalog: &Catalog) -> Result<Vec<(&'static EventDescriptor, Contract)>, String> {
    let mut errors = Vec::new();
    let mut contracts = Vec::new();
    for &event in catalog.events() {
        match Contract::of(event) {
            Ok(contract) => contracts.push((event, contract)),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if errors.is_empty() { Ok(contracts) } else { Err(errors.join("\n")) }
}

fn accept(catalog: &Catalog, schemas: &Path) -> Result<bool, String> {
    let contracts = contracts(catalog)?;
    let mut said = String::new();
    for (_, contract) in &contracts {
        let path = schemas.join(contract.file_name());
        let text = contract.to_text();
        let known = read_file(&path)?;
        if known.as_deref().is_some_and(|known| is_same(known, &text)) {
            continue;
        }
        write_file(&path, &text)?;
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

fn check(catalog: &Catalog, schemas: &Path, wanted: Option<&str>) -> Result<bool, String> {
    let contracts = contracts(catalog)?;
    let mut report = Report { notes: Vec::new(), findings: Vec::new() };
    for (event, contract) in &contracts {
        report.findings.extend(staleness(schemas, event, contract)?);
    }
    match baseline::find(schemas, wanted).map_err(|error| error.to_string())? {
        Found::None(reason) => report.notes.push(format!(
            "{reason}: checked only whether the contracts are up to date; name a baseline with `--baseline`"
        )),
        Found::Baseline(baseline) => {
            report.notes.push(format!(
                "compared the catalog ({} of events) with {}",
                counted(contracts.len(), "version"),
                baseline.name
            ));
            for released in &baseline.contracts {
                let same = |(_, current): &&(&EventDescriptor, Contract)| {
                    current.event_type == released.event_type
                        && current.event_version == released.event_version
                };
                match contracts.iter().find(same) {
                    Some((event, current)) => {
                        report.findings.extend(compat::check(released, current, Some(event)))
                    }
                    None => report.findings.push(compat::version_removed(released)),
                }
            }
        }
    }
    let coloured =
        io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    say(&text::render(&report, if coloured { Colour::On } else { Colour::Off }));
    Ok(report.passes())
}

fn counted(count: usize, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

/// Whether the committed contract is the one of the code.
fn staleness(
    schemas: &Path,
    event: &EventDescriptor,
    contract: &Contract,
) -> Result<Option<Finding>, String> {
    let path = schemas.join(contract.file_name());
    let (id, what) = match read_file(&path)? {
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
        whom: "",
        evidence: Evidence::Contracts,
        pointer: String::new(),
        location: Some(Location { file: event.file.to_owned(), line: event.line }),
        fix: "run `cargo xtask schema-accept` and commit the result".to_owned(),
    }))
}

/// Files of versions that the catalog does not have.
fn undeclared(schemas: &Path, contracts: &[(&EventDescriptor, Contract)]) -> Result<Vec<PathBuf>, String> {
    let known: BTreeSet<PathBuf> =
        contracts.iter().map(|(_, contract)| schemas.join(contract.file_name())).collect();
    let files = baseline::contract_files(schemas)
        .map_err(|error| format!("can't read {}: {error}", schemas.display()))?;
    Ok(files.into_iter().filter(|file| !known.contains(file)).collect())
}

/// Line ends, a byte-order mark and a missing last line break are no difference.
fn is_same(known: &str, text: &str) -> bool {
    let plain = |text: &str| text.trim_start_matches('\u{feff}').replace("\r\n", "\n").trim_end().to_owned();
    plain(known) == plain(text)
}

fn read_file(path: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("can't read {}: {error}", path.display())),
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| format!("can't write {}: {error}", path.display()))
}

/// The path from the current folder, where it is below.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

/// Prints to the standard output. A reader that has seen enough and closed the pipe changes nothing.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
