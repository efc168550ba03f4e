//! What no schema says of an event, found by trying its type out: open enums and aliases.

use super::{Sample, alias, open, payloads_of};
use crate::{Contract, ContractError, EventDescriptor};
use serde_json::Value;

/// The contract of an event with what its type was seen to read beside its schema.
///
/// # Errors
/// [`ContractError`] when no payload of this event could travel.
pub fn contract_of(event: &EventDescriptor) -> Result<Contract, ContractError> {
    let mut contract = Contract::of(event)?;
    let payloads = payloads_of(&contract.reads);
    complete(event, &mut contract, &payloads, &[]);
    Ok(contract)
}

/// Puts into `contract` what the type of `event` does with `payloads` that are made from it.
pub(crate) fn complete(
    event: &EventDescriptor,
    contract: &mut Contract,
    payloads: &[Value],
    samples: &[Sample],
) {
    let mut names = open::Names::new();
    contract.open = open::find(event, contract, payloads, &mut names);
    contract.nested_aliases = alias::find(event, contract, payloads, samples, names);
}
