//! The bench: each row runs a raw loop and ours in turn, in the same run on the same server, and compares medians.
//!
//! A shared machine is noisy, so no time is a figure of its own: what counts is the ratio.

mod brokers;
mod build;
mod burden;
mod churn;
mod drain;
mod enqueue;
mod holes;
mod poll;
mod scheduled;
mod schema;
mod wake;

pub use brokers::Handled;

use crate::servers::Postgres;
use std::path::{Path, PathBuf};

/// Names the file into which a process that is measured writes its peak of memory.
pub const PEAK: &str = "OUTBOX_BENCH_PEAK";

/// Writes the most memory this process has had, in KiB as the kernel counts it.
pub fn write_peak_memory(file: &Path) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    std::fs::write(file, peak.trim().trim_end_matches(" kB")).unwrap();
}

/// What the command line asks for.
#[derive(Debug)]
pub struct Options {
    /// Interleaved rounds of each row.
    pub rounds: usize,
    /// Where the figures go as JSON.
    pub json: Option<PathBuf>,
    /// How many events the long row of churn lets through.
    pub events: Option<i64>,
    /// The store of the long row of churn, `postgres` or `sqlite`; without it both.
    pub store: Option<String>,
    /// The broker of the rows of brokers; without it all.
    pub broker: Option<String>,
    /// Whether the rows of brokers measure memory too, in a long drain.
    pub backlog: bool,
    /// How long the row of holes lasts.
    pub minutes: Option<f64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rounds: 15,
            json: None,
            events: None,
            store: None,
            broker: None,
            backlog: false,
            minutes: None,
        }
    }
}

/// One comparison.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) raw: Vec<f64>,
    pub(crate) ours: Vec<f64>,
    pub(crate) wanted: Wanted,
}

/// What the figure is held against.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted {
    /// Ours is at least this part of the raw loop (a throughput).
    RatioAtLeast(f64),
    /// Ours is at most so many times the other (a cost).
    RatioAtMost(f64),
    /// Ours is at most this.
    AtMost(f64),
    /// Only told.
    Nothing,
}

impl Row {
    fn ratio(&self) -> Option<f64> {
        let raw = median(&self.raw);
        (!self.raw.is_empty() && raw != 0.0).then(|| median(&self.ours) / raw)
    }

    fn is_met(&self) -> bool {
        let (ours, ratio) = (median(&self.ours), self.ratio());
        match self.wanted {
            Wanted::RatioAtLeast(least) => ratio.is_some_and(|ratio| ratio >= least),
            Wanted::RatioAtMost(most) => ratio.is_some_and(|ratio| ratio <= most),
            Wanted::AtMost(most) => ours <= most,
            Wanted::Nothing => true,
        }
    }

    fn wanted_text(&self) -> String {
        match self.wanted {
            Wanted::RatioAtLeast(least) => format!("ratio >= {least}"),
            Wanted::RatioAtMost(most) => format!("ratio <= {most}"),
            Wanted::AtMost(most) => format!("<= {most}"),
            Wanted::Nothing => "-".to_owned(),
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => sorted[len / 2],
        len => f64::midpoint(sorted[len / 2 - 1], sorted[len / 2]),
    }
}

/// Runs the rows whose name contains one of `names`, or all but the long ones; false when a wanted figure was not met.
pub async fn run(names: &[String], options: &Options) -> bool {
    let wants = |name: &str| names.is_empty() || names.iter().any(|word| name.contains(word.as_str()));
    let mut rows = Vec::new();
    // These take minutes, so only who asks for them by name gets them.
    let asks = |name: &str| names.iter().any(|word| name.contains(word.as_str()));
    let measured = ["enqueue", "batch", "drain", "burden", "scheduled", "wake", "poll"];
    if measured.iter().any(|name| wants(name)) || asks("churn") || asks("holes") || asks("brokers") {
        // Commits reach the disk as they would in production.
        let settings = ["fsync=on", "synchronous_commit=on", "max_wal_size=4GB", "autovacuum=off"];
        let Some(server) = Postgres::private_with(&settings).await else { return false };
        if wants("enqueue") {
            rows.push(enqueue::single(&server, options.rounds).await);
        }
        if wants("batch") {
            rows.push(enqueue::batch(&server, options.rounds).await);
        }
        if wants("drain") {
            rows.extend(drain::rows(&server, options.rounds).await);
        }
        if wants("burden") {
            rows.extend(burden::rows(&server, options.rounds.min(5)).await);
        }
        if wants("scheduled") {
            rows.extend(scheduled::rows(&server, options.rounds.min(5)).await);
        }
        if asks("churn") {
            rows.extend(churn::rows(&server, options).await);
        }
        if asks("holes") {
            rows.push(holes::row(&server, options).await);
        }
        if asks("brokers") {
            rows.extend(brokers::rows(&server, options).await);
        }
        if wants("wake") {
            rows.push(wake::row(&server, options.rounds).await);
        }
        if wants("poll") {
            rows.push(poll::row(&server, options.rounds).await);
        }
    }
    if wants("build") {
        rows.push(build::row(options.rounds.min(5)));
    }
    if wants("schema check") {
        rows.extend(schema::check(options.rounds));
    }
    if wants("schema pair") {
        rows.push(schema::pathological(options.rounds.min(5)));
    }
    print(&rows);
    if let Some(path) = &options.json {
        std::fs::write(path, json(&rows)).unwrap();
    }
    rows.iter().all(Row::is_met)
}

fn print(rows: &[Row]) {
    println!("{:<50} {:>12} {:>12} {:>7}  {:<14} {:<6} unit", "row", "raw", "ours", "ratio", "wanted", "met");
    for row in rows {
        let ratio = row.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        let raw = if row.raw.is_empty() { "-".to_owned() } else { format!("{:.3}", median(&row.raw)) };
        let met = if row.is_met() { "yes" } else { "NO" };
        let (ours, wanted) = (median(&row.ours), row.wanted_text());
        println!("{:<50} {raw:>12} {ours:>12.3} {ratio:>7}  {wanted:<14} {met:<6} {}", row.name, row.unit);
    }
}

fn json(rows: &[Row]) -> String {
    let row = |row: &Row| {
        serde_json::json!({
            "name": &row.name,
            "unit": row.unit,
            "raw": row.raw,
            "ours": row.ours,
            "ratio": row.ratio(),
            "wanted": row.wanted_text(),
            "met": row.is_met(),
        })
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    serde_json::to_string_pretty(&rows).unwrap()
}
