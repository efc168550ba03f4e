//! The command line: migrate, relay, upkeep, status, doctor, dead letters, scheduled events, forgetting, repair. It needs no
//! catalog.
//!
//! The binary `outbox` is [`main`] alone, and a program of one's own that calls it has the same commands:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     outbox::cli::main()
//! }
//! ```
//! Exit codes: 0 done, 1 failed, nothing matched or (`doctor`) something is wrong, 2 wrong usage. Answers go to stdout, logs and
//! errors to stderr. Whatever producers wrote is shown with its control characters escaped, a payload by `dead-letters show` only, and
//! no password of an address at all. When the reader of stdout goes away, the command ends quietly with 0.

mod address;
mod alert;
mod args;
mod broker;
mod command;
mod database;
mod failure;
mod json;
mod log;
mod moment;
mod output;
mod patience;
mod signal;
mod text;

use args::Args;
use clap::Parser;
use failure::Failure;
use output::Output;
use std::{ffi::OsString, process::ExitCode};

/// Runs the command line of this process and gives its exit code.
#[must_use = "return it from `main`"]
pub fn main() -> ExitCode {
    run(std::env::args_os())
}

/// Runs the command line `args`, whose first one is the program's name, and gives the exit code. For a program that has
/// commands of its own beside these.
#[must_use = "return it from `main`"]
pub fn run(args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors; that nobody reads them is none either.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(failure::USAGE) } else { ExitCode::SUCCESS };
        }
    };
    log::start();
    match execute(args) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn execute(args: Args) -> Result<ExitCode, Failure> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::Runtime)?;
    let mut output = Output::stdout();
    let code = runtime.block_on(database::run(args, &mut output))?;
    output.finish()?;
    Ok(code)
}
