//! Commands of this repository; an xtask of any project that uses `outbox` looks like the first lines of `main`.

mod cargo;
mod install;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  test [FILTER]   installs the servers the tests need, then runs every test, doc test and macro case
  bench [ARGS]    runs the benchmarks against hand-written loops
  torture [ARGS]  runs the endurance test
  tools           installs the ready-built tools of the checks, and prints their folder
  schema-accept, schema-check, catalog
                  the commands of any project that uses outbox, for the events of the examples";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|command| outbox::xtask::COMMANDS.contains(&command.as_str())) {
        return outbox::xtask::run(args);
    }
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<(), String> {
    let Some((command, rest)) = args.split_first() else { return Err(USAGE.to_owned()) };
    match command.as_str() {
        "test" => test::run(rest),
        "bench" | "torture" => cargo::run_bin(command, rest),
        "tools" => install::tools().map(|folder| println!("{}", folder.display())),
        other => Err(format!("unknown command `{other}`\n\n{USAGE}")),
    }
}
