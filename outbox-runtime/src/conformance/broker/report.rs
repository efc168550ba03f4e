//! What a run of the suite checked, what the broker cannot do, and capabilities as a table for people.

use crate::broker::Capabilities;
use std::{fmt, time::Duration};

/// What one run of the suite found: each rule that was kept, and each that was not run, with the reason.
#[derive(Debug, Clone)]
pub struct Report {
    pub(super) capabilities: Capabilities,
    pub(super) rules: Vec<(String, Outcome)>,
}

#[derive(Debug, Clone)]
pub(super) enum Outcome {
    Kept,
    /// Not run, because of this.
    Cannot(&'static str),
}

impl Report {
    /// What the broker declared.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The rules that were kept.
    pub fn kept(&self) -> impl Iterator<Item = &str> {
        self.rules
            .iter()
            .filter(|(_, outcome)| matches!(outcome, Outcome::Kept))
            .map(|(rule, _)| rule.as_str())
    }

    /// The rules that were not run, each with the reason.
    pub fn cannot(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.rules.iter().filter_map(|(rule, outcome)| match outcome {
            Outcome::Kept => None,
            Outcome::Cannot(reason) => Some((rule.as_str(), *reason)),
        })
    }
}

/// The capabilities as a table, then each rule with `kept`, or `can't` and the reason.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", capability_table(std::slice::from_ref(&self.capabilities)))?;
        for (rule, outcome) in &self.rules {
            match outcome {
                Outcome::Kept => writeln!(f, "kept   {rule}")?,
                Outcome::Cannot(reason) => writeln!(f, "can't  {rule}: {reason}")?,
            }
        }
        Ok(())
    }
}

/// The declared capabilities of these brokers as a table in Markdown, one column each.
#[must_use]
pub fn capability_table(brokers: &[Capabilities]) -> String {
    type Cell = fn(&Capabilities) -> String;
    let rows: [(&str, Cell); 7] = [
        ("keeps the order of a key", |can| yes(can.ordered)),
        ("… with several of one key in flight", |can| yes(can.ordered_pipeline)),
        ("a new consumer gets what others acked", |can| yes(can.replayable)),
        ("delays a nacked delivery itself", |can| yes(can.delayed)),
        ("drops a second copy for", |can| match can.dedup_window {
            Duration::ZERO => yes(false),
            window => format!("{} s", window.as_secs()),
        }),
        ("counts deliveries", |can| yes(can.delivery_count)),
        ("largest message", |can| can.bytes_max.map_or("no limit".to_owned(), size)),
    ];
    let line = |first: &str, cell: &dyn Fn(&Capabilities) -> String| {
        let cells: String = brokers.iter().map(|can| format!(" {} |", cell(can))).collect();
        format!("| {first} |{cells}\n")
    };
    let mut table = line("", &|can| format!("`{}`", can.name)).replacen("|  |", "| |", 1);
    table += &format!("|---|{}\n", "---|".repeat(brokers.len()));
    for (name, cell) in rows {
        table += &line(name, &cell);
    }
    table
}

fn yes(can: bool) -> String {
    if can { "yes" } else { "no" }.to_owned()
}

fn size(bytes: usize) -> String {
    const KIB: usize = 1024;
    const MIB: usize = KIB * KIB;
    if bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{} KiB", bytes / KIB) }
}
