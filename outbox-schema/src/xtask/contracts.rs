//! The contracts of the code: every event of the catalog with what it writes and reads.

use crate::{Catalog, Contract, EventDescriptor};

/// One event and its contract as the code has it now.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) event: &'static EventDescriptor,
    pub(super) contract: Contract,
}

/// Every event with its contract, by type and version.
pub(super) fn of(catalog: &Catalog) -> Result<Vec<Declared>, String> {
    let mut errors = Vec::new();
    let mut contracts = Vec::new();
    for &event in catalog.events() {
        match Contract::of(event) {
            Ok(contract) => contracts.push(Declared { event, contract }),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if errors.is_empty() { Ok(contracts) } else { Err(errors.join("\n")) }
}
