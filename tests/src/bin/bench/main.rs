//! Measures the framework against hand-written loops that do the same work on the same server, in the same run.
//!
//! `bench [NAME…] [--rounds N] [--json FILE]`: all rows, or those whose name contains one of the words. Three take
//! minutes and run only by name: `brokers [--broker nats|redis|rabbitmq|kafka] [--backlog]`,
//! `churn [--events N] [--store postgres|sqlite]` and `holes [--minutes N]`.
#![expect(clippy::unwrap_used, reason = "a fault of a test or a measurement ends it")]

mod consumer;
mod events;

use outbox_tests::bench;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    // The row of the schema check starts this program again, as the xtask of a project with very many events.
    if let Some(peak) = std::env::var_os(bench::PEAK) {
        let code = outbox::xtask::main();
        bench::write_peak_memory(peak.as_ref());
        return code;
    }
    let mut names = Vec::new();
    let mut options = bench::Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => options.rounds = arguments.next().unwrap().parse().unwrap(),
            "--events" => options.events = arguments.next().map(|n| n.parse().unwrap()),
            "--store" => options.store = arguments.next(),
            "--broker" => options.broker = arguments.next(),
            "--backlog" => options.backlog = true,
            "--minutes" => options.minutes = arguments.next().map(|n| n.parse().unwrap()),
            "--json" => options.json = arguments.next().map(Into::into),
            name => names.push(name.to_owned()),
        }
    }
    if bench::run(&names, &options).await { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
