//! What each process did, as it did it: a file of lines that outlives the process, however it ends.
//!
//! A line is written before the step it tells of is taken (an enqueue, a commit), or when it is known to be done (a commit
//! that was acknowledged). A process that dies in between leaves its transaction in doubt: at the end the database is asked.
//! All processes take the time from one clock of the machine, so the lines of all files have one order.

use crate::history::{EventName, Happening, TxId};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Line {
    /// Nanoseconds of the machine's clock.
    pub(super) at: u64,
    pub(super) step: Step,
}

/// What a line tells of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Step {
    Happened(Happening),
    /// The transaction has the lock of a key. It is the version-th one to commit, if it does.
    Locked {
        tx: TxId,
        key: String,
        version: i64,
    },
    /// The transaction's row stands in the database.
    Entered(TxId),
    /// The transaction takes the event back before it is due.
    Cancelled {
        tx: TxId,
        event: EventName,
    },
    /// The broker has confirmed the event to this relay. What it has, it is asked at the end; this tells when.
    Confirmed(EventName),
    /// The event ends this process, at that stage.
    Dies {
        stage: String,
        event: EventName,
    },
}

/// Nanoseconds of a clock that all processes of the machine share and nobody sets.
pub(super) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).expect("the clock began at zero")
}

/// The file of one process.
#[derive(Debug)]
pub(super) struct Record {
    file: File,
}

impl Record {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::options().create(true).append(true).open(path)? })
    }

    /// Writes what happened just now.
    ///
    /// # Panics
    /// If the disk is full: what went unrecorded could not be judged.
    pub(super) fn write(&self, step: Step) {
        self.write_at(now(), step);
    }

    pub(super) fn write_at(&self, at: u64, step: Step) {
        let mut text = serde_json::to_string(&Line { at, step }).expect("a line can be written as JSON");
        text.push('\n');
        // In one call: the lines of several threads do not mix.
        (&self.file).write_all(text.as_bytes()).expect("the record can be written");
    }

    pub(super) fn happened(&self, what: Happening) {
        self.write(Step::Happened(what));
    }
}

/// The lines of all files in a folder, in the order of their times.
pub(super) fn read_all(folder: &Path) -> io::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "record") {
            let text = fs::read_to_string(&path)?;
            // A line that was cut off was never finished, so the step behind it was never taken.
            let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            for line in whole {
                lines.push(serde_json::from_str(line).map_err(io::Error::other)?);
            }
        }
    }
    lines.sort_by_key(|line: &Line| line.at);
    Ok(lines)
}
