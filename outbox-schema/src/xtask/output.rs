//! Where the report of a check goes: to the standard output in one form, and to files in any others.

use super::files;
use crate::report::{Colour, Format, Outcome};
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;

/// What the user wants to have.
#[derive(clap::Args)]
pub(super) struct Output {
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Writes a report into a file as well, for example `sarif=target/schema-check.sarif`; may be given several times
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = ReportFile::parse)]
    reports: Vec<ReportFile>,
}

#[derive(Debug, Clone)]
struct ReportFile {
    format: Format,
    path: PathBuf,
}

impl ReportFile {
    fn parse(text: &str) -> Result<Self, String> {
        let (format, path) =
            text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or("write it as FORMAT=FILE")?;
        let format = Format::from_str(format, false).map_err(|_| {
            let names = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
            format!("there is no format `{format}`; take one of {}", names.join(", "))
        })?;
        Ok(Self { format, path: PathBuf::from(path) })
    }
}

impl Output {
    /// Writes every report; one about a check that could not run as well, so that a machine learns of it.
    pub(super) fn put(&self, outcome: &Outcome) -> Result<(), String> {
        for ReportFile { format, path } in &self.reports {
            files::write(path, &format.render(outcome, Colour::Off))?;
        }
        // As text, why it could not run goes to the standard error, and not here too.
        if outcome.is_err() && self.format == Format::Text {
            return Ok(());
        }
        let colour = match anstream::AutoStream::choice(&io::stdout()) {
            anstream::ColorChoice::Never => Colour::Off,
            _ => Colour::On,
        };
        print(&self.format.render(outcome, colour))
    }
}

/// Prints to the standard output. A reader that has seen enough and closed the pipe changes nothing; a full disk does.
fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("can't print the report: {error}"))
        }
        _ => Ok(()),
    }
}
