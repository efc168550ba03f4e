//! The contracts of the code: every event of the catalog with what it writes and reads.

use crate::compat::{Behaviour, Sample};
use crate::{Catalog, Contract, EventDescriptor, samples};
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
    for &event in catalog.events() {
        match of_one(event, schemas) {
            Ok(declared) => contracts.push(declared),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(contracts) } else { Err(errors.join("\n")) }
}

fn of_one(event: &'static EventDescriptor, schemas: &Path) -> Result<Declared, String> {
    let mut contract = Contract::of(event).map_err(|error| error.to_string())?;
    let recorded = samples::read(schemas, event.event_type)?;
    let of_this_version =
        |(version, sample): (u32, Sample)| (version == event.event_version).then_some(sample);
    let samples = recorded.into_iter().filter_map(of_this_version).collect();
    let behaviour = Behaviour::of(event, &mut contract, samples);
    Ok(Declared { event, contract, behaviour })
}
