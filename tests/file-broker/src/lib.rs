//! A broker that is a folder: one append-only file for each partition of a topic, one for the acks of each consumer.

use futures_util::future::{BoxFuture, FutureExt, ready};
use outbox::broker::cloudevents::{Place, from_json, to_json};
use outbox::broker::{
    AckToken, Broker, BrokerError, Capabilities, Delivery, Malformed, Outgoing, Published, Subscription,
    SubscriptionConfig, partition, window::Window,
};
use outbox::envelope::Envelope;
use std::collections::HashSet;
use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};

const NAME: &str = "file";

type Answer<'a, T> = BoxFuture<'a, Result<T, BrokerError>>;

/// The folder; one process publishes into it.
pub struct FileBroker {
    folder: PathBuf,
    publishing: Mutex<()>,
}

impl FileBroker {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), publishing: Mutex::default() }
    }

    fn append(&self, outgoing: &Outgoing<'_>) -> io::Result<()> {
        let envelope = outgoing.envelope;
        let partition = partition::of(envelope.key.as_deref(), partition::PARTITIONS_DEFAULT);
        let folder = self.folder.join(&envelope.topic);
        create_dir_all(&folder)?;
        append_line(&folder.join(format!("{partition}.events")), &serde_json::to_string(&to_json(envelope))?)
    }
}

impl Broker for FileBroker {
    fn capabilities(&self) -> Capabilities {
        let mut can = Capabilities::least(NAME);
        (can.ordered, can.ordered_pipeline, can.replayable) = (true, true, true);
        can
    }

    fn publish<'a>(&'a self, batch: &'a [Outgoing<'a>]) -> Answer<'a, Vec<Published>> {
        let _alone = self.publishing.lock().expect("no panic holds this lock");
        let published = batch.iter().map(|outgoing| match self.append(outgoing) {
            Ok(()) => Published::Confirmed { duplicate: false },
            Err(error) => Published::TryAgain(BrokerError::unavailable(NAME, "publish", error)),
        });
        ready(Ok(published.collect())).boxed()
    }

    fn subscribe<'a>(&'a self, config: &'a SubscriptionConfig) -> Answer<'a, Box<dyn Subscription>> {
        let opened = FileSubscription::open(&self.folder.join(&config.topic), config.clone());
        let opened = opened.map(|opened| Box::new(opened) as Box<dyn Subscription>);
        ready(opened.map_err(|error| BrokerError::unavailable(NAME, "subscribe", error))).boxed()
    }

    fn partitions<'a>(&'a self, _topic: &'a str) -> Answer<'a, Vec<String>> {
        ready(Ok(partition::names(partition::PARTITIONS_DEFAULT))).boxed()
    }
}

/// One partition: what was published is read into the window, and stays there until its ack.
struct FileSubscription {
    config: SubscriptionConfig,
    events: Lines,
    acks: PathBuf,
    acked: HashSet<u64>,
    /// By the number of the line.
    window: Window<u64, Result<Envelope, Malformed>>,
}

impl FileSubscription {
    fn open(folder: &Path, config: SubscriptionConfig) -> io::Result<Self> {
        create_dir_all(folder)?;
        let acks = folder.join(format!("{}.{}.acks", config.partition, config.consumer));
        let acked =
            Lines::of(acks.clone()).read(usize::MAX)?.into_iter().filter_map(|(_, line)| line.parse().ok());
        let events = Lines::of(folder.join(format!("{}.events", config.partition)));
        let window = Window::new(config.ack_wait);
        Ok(Self { config, events, acked: acked.collect(), acks, window })
    }

    /// Takes over what was published since.
    fn read(&mut self) -> Result<(), BrokerError> {
        let room = (self.config.in_flight_max as usize).saturating_sub(self.window.len());
        let lines =
            self.events.read(room).map_err(|error| BrokerError::unavailable(NAME, "receive", error))?;
        for (number, line) in lines.into_iter().filter(|(number, _)| !self.acked.contains(number)) {
            // Two partitions have lines of one number.
            let names = partition::names(partition::PARTITIONS_DEFAULT);
            let own = names.iter().position(|name| *name == self.config.partition).unwrap_or(0);
            let position = number * names.len() as u64 + own as u64;
            let stored_at = SystemTime::UNIX_EPOCH.into();
            let place = Place { topic: &self.config.topic, position, stored_at };
            let document: String = serde_json::from_str(&line).unwrap_or(line);
            let event = from_json(place, document.as_bytes());
            let (Ok(envelope) | Err(Malformed { envelope, .. })) = &event;
            let key = envelope.key.clone();
            self.window.hold(number, event, key);
        }
        Ok(())
    }
}

impl Subscription for FileSubscription {
    fn ready(&mut self, at_most: Duration) -> Answer<'_, ()> {
        let deadline = Instant::now() + at_most;
        async move {
            loop {
                self.read()?;
                if Instant::now() >= deadline || self.window.is_due() {
                    return Ok(());
                }
                sleep(Duration::from_millis(10)).await;
            }
        }
        .boxed()
    }

    fn take(&mut self, max: u32) -> Answer<'_, Vec<Delivery>> {
        let read = self.read();
        let due = self.window.take_due(max).into_iter();
        let deliveries = due.map(|(token, _, event)| Delivery { token, event: event.clone() });
        ready(read.map(|()| deliveries.collect())).boxed()
    }

    fn ack<'a>(&'a mut self, tokens: &'a [AckToken]) -> Answer<'a, ()> {
        let numbers = self.window.remove(tokens);
        let acked = numbers.iter().try_for_each(|number| append_line(&self.acks, &number.to_string()));
        ready(acked.map_err(|error| BrokerError::unavailable(NAME, "ack", error))).boxed()
    }

    fn nack<'a>(&'a mut self, token: &'a AckToken, delay: Duration) -> Answer<'a, ()> {
        self.window.nack(*token, delay);
        ready(Ok(())).boxed()
    }
}

/// The whole lines of a file that may grow; what follows the last line break was never confirmed.
struct Lines {
    path: PathBuf,
    offset: u64,
    number: u64,
}

impl Lines {
    fn of(path: PathBuf) -> Self {
        Self { path, offset: 0, number: 0 }
    }

    /// The next lines, at most `max`.
    fn read(&mut self, max: usize) -> io::Result<Vec<(u64, String)>> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        file.seek(SeekFrom::Start(self.offset))?;
        let (mut file, mut lines, mut line) = (BufReader::new(file), Vec::new(), String::new());
        while lines.len() < max && file.read_line(&mut line)? > 0 && line.ends_with('\n') {
            self.offset += line.len() as u64;
            lines.push((self.number, line.trim_end().to_owned()));
            self.number += 1;
            line.clear();
        }
        Ok(lines)
    }
}

/// Appends a line for good, in the place of one that a crash cut off.
fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let mut last = [0];
    if file.seek(SeekFrom::End(-1)).is_ok() && file.read(&mut last)? == 1 && last != *b"\n" {
        let mut whole = Lines::of(path.to_owned());
        whole.read(usize::MAX)?;
        file.set_len(whole.offset)?;
    }
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_data()
}
