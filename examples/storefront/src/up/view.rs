//! What is shown while the shop works: a line a second.

use crate::{fleet::Fleet, shop::Shop};
use std::time::{Duration, Instant};
use storefront::Result;

const EVERY: Duration = Duration::from_secs(1);

/// The heads are repeated after so many lines.
const LINES_MAX: u64 = 20;

const HEADS: [&str; 11] = [
    "time", "placed", "charged", "sent", "oldest", "to relay", "waiting", "dropped", "dead", "kills",
    "releases",
];

/// A table that grows downwards.
#[derive(Debug)]
pub(crate) struct View {
    begun: Instant,
    next: Instant,
    lines: u64,
}

impl View {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), next: Instant::now(), lines: 0 }
    }

    /// Adds a line if it is time.
    pub(crate) async fn show(&mut self, shop: &Shop, fleet: &Fleet) -> Result {
        if Instant::now() < self.next {
            return Ok(());
        }
        self.next = Instant::now() + EVERY;
        if self.lines.is_multiple_of(LINES_MAX) {
            print(&HEADS.map(str::to_owned));
        }
        self.lines += 1;
        let now = shop.numbers().await?;
        print(&[
            format!("{} s", self.begun.elapsed().as_secs()),
            now.orders.placed.to_string(),
            now.orders.charged.to_string(),
            now.orders.sent.to_string(),
            format!("{:.1} s", now.orders.oldest_open_secs),
            now.lag.to_string(),
            now.held.to_string(),
            fleet.duplicates().to_string(),
            now.dead_letters.to_string(),
            fleet.kills().to_string(),
            fleet.releases(),
        ]);
        Ok(())
    }
}

fn print(cells: &[String; HEADS.len()]) {
    let line: String = cells.iter().map(|cell| format!("{cell:>9}")).collect();
    println!("{line}");
}
