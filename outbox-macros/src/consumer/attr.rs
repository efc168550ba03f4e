//! Reads the arguments of `#[consumer(…)]`.

use crate::entry::{self, Entry};
use crate::mistakes::Mistakes;
use proc_macro2::TokenStream;
use syn::{LitInt, LitStr, Path};

const KEYS: &[&str] = &["name", "retry", "timeout", "concurrency", "crate"];
const RETRY_KEYS: &[&str] = &["attempts", "base", "max"];

/// `#[consumer(…)]`.
#[derive(Default)]
pub(super) struct ConsumerAttr {
    pub(super) name: Option<LitStr>,
    pub(super) attempts: Option<LitInt>,
    pub(super) base: Option<LitStr>,
    pub(super) max: Option<LitStr>,
    pub(super) timeout: Option<LitStr>,
    pub(super) concurrency: Option<LitInt>,
    pub(super) root: Option<Path>,
    given: Vec<String>,
}

impl ConsumerAttr {
    pub(super) fn read(arguments: TokenStream, mistakes: &mut Mistakes) -> Self {
        let mut read = Self::default();
        for entry in entry::read(arguments, mistakes) {
            read.take(&entry, mistakes);
            read.given.push(entry.name());
        }
        read
    }

    /// Whether the key stands there, be its value right or wrong.
    pub(super) fn names(&self, key: &str) -> bool {
        self.given.iter().any(|given| given == key)
    }

    fn take(&mut self, entry: &Entry, mistakes: &mut Mistakes) {
        let key = &entry.key;
        match entry.name().as_str() {
            "name" => entry.text(&mut self.name, "name = \"billing.charge\"", mistakes),
            "retry" => {
                for entry in entry
                    .list("retry(attempts = 8, base = \"1s\", max = \"10m\")", mistakes)
                    .unwrap_or_default()
                {
                    self.take_retry(&entry, mistakes);
                }
            }
            "timeout" => entry.text(&mut self.timeout, "timeout = \"30s\"", mistakes),
            "concurrency" => entry.number(&mut self.concurrency, "concurrency = 8", mistakes),
            "crate" => entry.path(&mut self.root, "crate = path::to::outbox", mistakes),
            word if RETRY_KEYS.contains(&word) => {
                mistakes.add(key, format!("`{word}` belongs to the retries; write `retry({word} = …)`"));
            }
            _ => {
                let meant = entry::unknown(key, KEYS, mistakes);
                self.given.extend(meant.map(str::to_owned));
            }
        }
    }

    fn take_retry(&mut self, entry: &Entry, mistakes: &mut Mistakes) {
        let key = &entry.key;
        match entry.name().as_str() {
            "attempts" => entry.number(&mut self.attempts, "attempts = 8", mistakes),
            "base" => entry.text(&mut self.base, "base = \"1s\"", mistakes),
            "max" => entry.text(&mut self.max, "max = \"10m\"", mistakes),
            _ => {
                entry::unknown(key, RETRY_KEYS, mistakes);
            }
        }
    }
}
