//! The contracts of the code, and those that are committed.

use super::files::shown;
use crate::compat::{self, Behaviour, Sample, alias};
use crate::{Catalog, Contract, ContractError, EventDescriptor, baseline, contract, samples};
use std::collections::BTreeMap;
use std::path::Path;

/// One event and its contract as the code has it now.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) event: &'static EventDescriptor,
    pub(super) contract: Contract,
    /// What its type was seen to do; `None` where the schemas of the contract can't be compiled.
    pub(super) behaviour: Option<Behaviour>,
}

/// Every event with its contract, by type and version; each type is tried out, also with what was recorded in `schemas`.
pub(super) fn of(catalog: &Catalog, schemas: &Path) -> Result<Vec<Declared>, String> {
    let mut errors = Vec::new();
    let mut contracts = Vec::new();
    for outcome in side_by_side(catalog.events(), &|event| of_one(event, schemas)) {
        match outcome {
            Ok(declared) => contracts.push(declared),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(contracts) } else { Err(errors.join("\n")) }
}

/// What `work` makes of each event, in their order, on all processors.
fn side_by_side<T: Send>(
    events: &[&'static EventDescriptor],
    work: &(dyn Fn(&'static EventDescriptor) -> T + Sync),
) -> Vec<T> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let share = events.len().div_ceil(processors).max(1);
    std::thread::scope(|scope| {
        let start = |events: &[&'static EventDescriptor]| {
            let events = events.to_vec();
            scope.spawn(move || events.into_iter().map(work).collect::<Vec<T>>())
        };
        let threads: Vec<_> = events.chunks(share).map(start).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Vec<T>>| match thread.join() {
            Ok(outcomes) => outcomes,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().flat_map(join).collect()
    })
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

/// Gives each contract what it has from before: names that were removed, and aliases that only former names bring to light.
/// Before is the release if that is known, else what is committed.
pub(super) fn carry(
    declared: &mut [Declared],
    released: Option<&[Contract]>,
    committed: &BTreeMap<String, Contract>,
) {
    for Declared { event, contract, .. } in declared {
        let place = contract.file_name();
        let last = released.map(|released| released.iter().find(|released| released.file_name() == place));
        let known = committed.get(&place);
        contract.reserved = match last {
            Some(last) => last.map(|last| compat::reserved(last, contract)).unwrap_or_default(),
            None => known.map(|known| known.reserved.clone()).unwrap_or_default(),
        };
        if let Some(before) = last.flatten().or(known) {
            alias::find_again(event, contract, before);
        }
    }
}

/// The contracts in the folder of schemas, by their place in it. One that can't be used is an error, so that no command
/// writes over what somebody may want to keep.
pub(super) fn committed(schemas: &Path) -> Result<BTreeMap<String, Contract>, String> {
    let mut errors = Vec::new();
    let mut contracts = BTreeMap::new();
    let files = baseline::contract_files(schemas)
        .map_err(|error| format!("can't read {}: {error}", schemas.display()))?;
    for (place, path) in files {
        let path = shown(&path);
        match std::fs::read_to_string(schemas.join(&place)) {
            Err(error) => errors.push(format!("can't read {path}: {error}")),
            Ok(text) => match contract::read(&place, &text) {
                Ok(contract) => drop(contracts.insert(place, contract)),
                // Only a newer outbox can tell what is in it.
                Err(error @ ContractError::NewerFormat { .. }) => errors.push(format!("{path}: {error}")),
                Err(error) => errors.push(format!(
                    "{path}: {error}; restore it with `git checkout -- {path}`, or delete it and run `cargo xtask \
                     schema-accept`"
                )),
            },
        }
    }
    if errors.is_empty() { Ok(contracts) } else { Err(errors.join("\n")) }
}
