//! Commands of this repository; an xtask of any project that uses `outbox` is the last arm of `run` alone.

mod cargo;
mod install;
mod test;
mod torture;

// The linker drops a crate of events that nobody names.
use github_webhook_events as _;
use std::process::ExitCode;
use storefront_events as _;

const USAGE: &str = "\
Commands of this repository:
  test [FILTER]   installs the servers the tests need, then runs every test, doc test and macro case
  bench [ARGS]    runs the benchmarks against hand-written loops
  torture [ARGS]  breaks processes, servers and connections, and holds the record of it against the promises
  servers         installs the servers that the tests and the examples start
  tools           installs the ready-built tools of the checks, and prints their folder

Commands of every xtask:";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    run(&args).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn run(args: &[String]) -> Result<ExitCode, String> {
    let (command, rest) = args.split_first().map_or(("help", &[][..]), |(command, rest)| (command, rest));
    match command {
        "test" => test::run(rest)?,
        "bench" => cargo::status(&mut cargo::run_bin(command, rest))?,
        "torture" => torture::run(rest)?,
        "servers" => install::servers()?,
        "tools" => println!("{}", install::tools()?.display()),
        _ => {
            if matches!(command, "help" | "--help" | "-h") {
                println!("{USAGE}");
            }
            return Ok(outbox::xtask::run(args));
        }
    }
    Ok(ExitCode::SUCCESS)
}
