//! The contracts of the code, and those that are committed.

use super::files::shown;
use crate::baseline::{self, Baseline};
use crate::compat::{self, Behaviour, Sample, alias};
use crate::{Catalog, Contract, ContractError, EventDescriptor, contract, samples};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One event and its contract as the code has it now.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) event: &'static EventDescriptor,
    pub(super) contract: Contract,
    /// What its type was seen to do; `None` where the schemas of the contract can't be compiled.
    pub(super) behaviour: Option<Behaviour>,
}

/// All there is of one event version.
pub(super) struct Version {
    pub(super) declared: Declared,
    pub(super) committed: Option<Rc<Contract>>,
    pub(super) released: Option<Rc<Contract>>,
}

/// What the code is compared with.
pub(super) struct Known<'a> {
    pub(super) schemas: &'a Path,
    /// The texts of the contracts in the folder of schemas, by their place in it.
    pub(super) committed: &'a BTreeMap<String, String>,
    pub(super) baseline: Option<&'a Baseline>,
    /// Whether the baseline is the release before; another one has no say in what is committed.
    pub(super) is_last_release: bool,
}

/// What `work` makes of each event version, by type and version; each type is tried out, also with what was recorded.
///
/// The versions come one at a time on each processor, as the schemas of a large project would fill the memory.
pub(super) fn each<T: Send>(
    catalog: &Catalog,
    known: &Known<'_>,
    work: &(dyn Fn(Version) -> T + Sync),
) -> Result<Vec<T>, String> {
    let mut errors = Vec::new();
    let mut done = Vec::new();
    for outcome in side_by_side(catalog.events(), &|event| known.version(event).map(work)) {
        match outcome {
            Ok(outcome) => done.push(outcome),
            Err(error) => errors.push(error),
        }
    }
    let declared = places(catalog);
    let others = known.committed.iter().filter(|(place, _)| !declared.contains(*place));
    errors.extend(others.filter_map(|(place, text)| known.committed(place, text).err()));
    if errors.is_empty() { Ok(done) } else { Err(errors.join("\n")) }
}

/// Where the contracts of the code lie inside the folder of schemas.
pub(super) fn places(catalog: &Catalog) -> BTreeSet<String> {
    catalog.events().iter().map(|event| contract::file_name(event.event_type, event.event_version)).collect()
}

/// What `work` makes of each event, in their order, on all processors.
fn side_by_side<T: Send>(
    events: &[&'static EventDescriptor],
    work: &(dyn Fn(&'static EventDescriptor) -> T + Sync),
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(event) = events.get(at) else { return done };
            done.push((at, work(event)));
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..processors).map(|_| scope.spawn(take)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Vec<(usize, T)>>| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().flat_map(join).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

impl Known<'_> {
    fn version(&self, event: &'static EventDescriptor) -> Result<Version, String> {
        let mut declared = of_one(event, self.schemas)?;
        let place = declared.contract.file_name();
        let text = self.committed.get(&place);
        let committed = match text {
            // Most are what `schema-accept` would write now, and need no reading.
            Some(text) if *text == declared.contract.to_text() => Some(declared.contract.clone()),
            Some(text) => Some(self.committed(&place, text)?),
            None => None,
        };
        let committed = committed.map(Rc::new);
        let file = self.baseline.and_then(|baseline| baseline.files.get(&place));
        let released = match file {
            // Most contracts are still as they were released.
            Some(file) if text == Some(&file.text) => committed.clone(),
            Some(file) => Some(Rc::new(file.contract(&place).map_err(|error| error.to_string())?)),
            None => None,
        };
        let last = self.baseline.filter(|_| self.is_last_release).map(|_| released.as_deref());
        carry(&mut declared, last, committed.as_deref());
        Ok(Version { declared, committed, released })
    }

    /// The committed contract of that text. One that can't be used is an error, so that no command writes over what
    /// somebody may want to keep.
    fn committed(&self, place: &str, text: &str) -> Result<Contract, String> {
        contract::read(place, text).map_err(|error| {
            let path = shown(&self.schemas.join(place));
            match error {
                // Only a newer outbox can tell what is in it.
                ContractError::NewerFormat { .. } => format!("{path}: {error}"),
                _ => format!(
                    "{path}: {error}; restore it with `git checkout -- {path}`, or delete it and run `cargo xtask \
                     schema-accept`"
                ),
            }
        })
    }
}

fn of_one(event: &'static EventDescriptor, schemas: &Path) -> Result<Declared, String> {
    let mut contract = Contract::of(event).map_err(|error| error.to_string())?;
    if let Some(fault) = contract::fault(&contract.writes).or_else(|| contract::fault(&contract.reads)) {
        let EventDescriptor { rust_path, file, line, .. } = event;
        return Err(format!("{file}:{line}: the schema of event `{rust_path}` {fault}"));
    }
    let recorded = samples::read(schemas, event.event_type)?;
    let of_this_version =
        |(version, sample): (u32, Sample)| (version == event.event_version).then_some(sample);
    let samples: Vec<Sample> = recorded.into_iter().filter_map(of_this_version).collect();
    let payloads = compat::payloads_of(&contract.reads);
    compat::complete(event, &mut contract, &payloads, &samples);
    let behaviour = Behaviour::of(event, &mut contract, payloads, samples);
    Ok(Declared { event, contract, behaviour })
}

/// Gives a contract what it has from before: names that were removed, and aliases that only former names bring to light.
/// Before is the last release if there was one, with or without this version, else what is committed.
fn carry(declared: &mut Declared, last: Option<Option<&Contract>>, committed: Option<&Contract>) {
    let Declared { event, contract, .. } = declared;
    contract.reserved = match last {
        Some(last) => last.map(|last| compat::reserved(last, contract)).unwrap_or_default(),
        None => committed.map(|known| known.reserved.clone()).unwrap_or_default(),
    };
    if let Some(before) = last.flatten().or(committed) {
        alias::find_again(event, contract, before);
    }
}

/// The texts of the contracts in the folder of schemas, by their place in it.
pub(super) fn committed(schemas: &Path) -> Result<BTreeMap<String, String>, String> {
    let unread = |path: &Path, error: std::io::Error| format!("can't read {}: {error}", shown(path));
    let mut errors = Vec::new();
    let mut texts = BTreeMap::new();
    for (place, path) in baseline::contract_files(schemas).map_err(|error| unread(schemas, error))? {
        match std::fs::read_to_string(&path) {
            Ok(text) => drop(texts.insert(place, text)),
            Err(error) => errors.push(unread(&path, error)),
        }
    }
    if errors.is_empty() { Ok(texts) } else { Err(errors.join("\n")) }
}
