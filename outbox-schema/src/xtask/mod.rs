//! The commands of a project's own xtask: accept contracts, check them, write the catalog.
//!
//! ```no_run
//! use std::process::ExitCode;
//! // use acme_events as _;   // the linker drops a crate of events that nobody names
//! fn main() -> ExitCode { outbox_schema::xtask::main() }
//! ```
//!
//! Exit codes: 0 passed, 1 breaking, not proven or stale, 2 could not run.

mod accept;
mod catalog;
mod check;
mod compare;
mod contracts;
mod diff;
mod explain;
mod files;
mod output;
mod places;
mod project;

use crate::{baseline, waiver};
use clap::{Parser, Subcommand};
use project::Project;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use time::Date;

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
    /// The day on which waivers and retired versions are judged, for tests
    #[arg(long, global = true, hide = true, value_parser = waiver::day)]
    today: Option<Date>,
}

#[derive(Subcommand)]
enum Command {
    /// Writes the contract of every event into the folder of schemas
    SchemaAccept(baseline::Choice),
    /// Fails if a contract is stale, or breaks anyone who works with the last release
    SchemaCheck(check::Args),
    /// Tells what changed between two releases, for people and for the CHANGELOG
    SchemaDiff(diff::Args),
    /// Says whether two JSON Schemas from anywhere may take each other's place
    SchemaCompare(compare::Args),
    /// Writes a page about every event for readers in other teams
    Catalog {
        /// Where to write it, by default `docs` beside Cargo.lock
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// The names of the commands, for an xtask that has commands of its own and passes these on.
pub const COMMANDS: &[&str] = &["schema-accept", "schema-check", "schema-diff", "schema-compare", "catalog"];

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
    match &cli.command {
        Command::SchemaAccept(choice) => accept::run(&Project::open(cli)?, choice),
        Command::SchemaCheck(args) => check::run(cli, args),
        Command::SchemaDiff(args) => diff::run(&Project::open(cli)?, args),
        Command::SchemaCompare(args) => compare::run(args),
        Command::Catalog { out } => catalog::run(&Project::open(cli)?, out.as_deref()),
    }
}
