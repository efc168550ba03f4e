//! A broker that is a file: what it confirmed outlives every process that is killed.

use futures_util::future::BoxFuture;
use outbox::broker::{Broker, BrokerError, Capabilities, Outgoing, Published};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const NAME: &str = "file";

/// Appends each event to a file, as a line of publisher, seq, key and payload.
#[derive(Debug)]
pub struct FileBroker {
    path: PathBuf,
    calls: AtomicU32,
    /// After so many batches this process kills itself: they are confirmed, and it cannot know.
    die_after: Option<u32>,
    /// An event of this key kills the process that hands it over, before anything is confirmed.
    deadly_key: Option<String>,
    /// How long each batch takes.
    pause: Duration,
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The process that published it.
    pub process: u32,
    /// The event's place in the log.
    pub seq: i64,
    /// The partition key.
    pub key: String,
    /// The payload.
    pub payload: String,
}

impl FileBroker {
    /// A broker on that file.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            calls: AtomicU32::new(0),
            die_after: None,
            deadly_key: None,
            pause: Duration::ZERO,
        }
    }

    /// Kills this process after so many batches, each confirmed.
    #[must_use]
    pub fn dying_after(self, batches: u32) -> Self {
        Self { die_after: Some(batches), ..self }
    }

    /// Kills this process at every event of this key.
    #[must_use]
    pub fn dying_of(self, key: &str) -> Self {
        Self { deadly_key: Some(key.to_owned()), ..self }
    }

    /// Takes so long for each batch.
    #[must_use]
    pub fn pausing(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// What was published so far.
    #[must_use]
    pub fn lines(path: &Path) -> Vec<Line> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // A line without its end is being written just now.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(parse).collect()
    }
}

fn parse(line: &str) -> Line {
    let mut parts = line.splitn(4, '\t');
    let mut next = || parts.next().expect("a line has four parts");
    let (process, seq) = (next().parse().unwrap(), next().parse().unwrap());
    Line { process, seq, key: next().to_owned(), payload: next().to_owned() }
}

impl Broker for FileBroker {
    fn capabilities(&self) -> Capabilities {
        Capabilities::least(NAME)
    }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        Box::pin(async move {
            tokio::time::sleep(self.pause).await;
            if batch
                .iter()
                .any(|outgoing| outgoing.envelope.key.is_some() && outgoing.envelope.key == self.deadly_key)
            {
                crate::kill_this_process();
            }
            let mut lines = String::new();
            for Outgoing { envelope, .. } in batch {
                let (process, key) = (std::process::id(), envelope.key.as_deref().unwrap_or(""));
                lines.push_str(&format!("{process}\t{}\t{key}\t{}\n", envelope.seq, envelope.payload));
            }
            let mut file = OpenOptions::new().create(true).append(true).open(&self.path).unwrap();
            file.write_all(lines.as_bytes()).unwrap();
            let calls = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
            if self.die_after == Some(calls) {
                crate::kill_this_process();
            }
            Ok(batch.iter().map(|_| Published::Confirmed { duplicate: false }).collect())
        })
    }
}
