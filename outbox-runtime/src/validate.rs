//! Holds each payload against its event's own serialize contract before it is written (feature `validate`).
//!
//! serde_json writes a NaN as `null`, and nobody notices until a reader fails.

use crate::{enqueue::EnqueueError, envelope::NewEvent, payload};
use jsonschema::Validator;
use outbox_schema::{EventDescriptor, KeySource};
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

struct Contract {
    validator: Option<Validator>,
    key: KeySource,
}

type Contracts = Mutex<HashMap<(String, u32), Option<Arc<Contract>>>>;

static CONTRACTS: LazyLock<Contracts> = LazyLock::new(Contracts::default);

/// Checks one event. An event that is not in this binary's catalog is not checked.
pub(crate) fn check(event: &NewEvent) -> Result<(), EnqueueError> {
    let Some(contract) = contract_of(event) else { return Ok(()) };
    let opened = payload::open(&event.payload).map_err(|source| invalid(event, "", source.to_string()))?;
    let body: serde_json::Value =
        serde_json::from_str(&opened.body).map_err(|source| invalid(event, "", source.to_string()))?;
    if let Some(validator) = &contract.validator
        && let Err(error) = validator.validate(&body)
    {
        return Err(invalid(event, &error.instance_path().to_string(), error.masked().to_string()));
    }
    if let KeySource::Field(name) = contract.key {
        let scalar = match body.get(name) {
            Some(serde_json::Value::String(text)) => Some(text.clone()),
            Some(value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_))) => {
                Some(value.to_string())
            }
            _ => None,
        };
        if scalar != event.key {
            let problem = "the partition key (the field's Display text) is not the field's JSON scalar, so readers in \
                           other languages cannot compute it";
            return Err(invalid(event, &format!("/{name}"), problem.to_owned()));
        }
    }
    Ok(())
}

fn contract_of(event: &NewEvent) -> Option<Arc<Contract>> {
    let name = (event.event_type.clone(), event.event_version);
    let mut contracts = CONTRACTS.lock().unwrap_or_else(PoisonError::into_inner);
    contracts
        .entry(name)
        .or_insert_with_key(|(event_type, event_version)| make(event_type, *event_version))
        .clone()
}

fn make(event_type: &str, event_version: u32) -> Option<Arc<Contract>> {
    let descriptor = inventory::iter::<EventDescriptor>
        .into_iter()
        .find(|entry| entry.event_type == event_type && entry.event_version == event_version)?;
    // A schema that does not compile is found by schema-check; it must not stop a producer.
    let validator =
        jsonschema::options().should_validate_formats(true).build(&(descriptor.serialize_schema)()).ok();
    Some(Arc::new(Contract { validator, key: descriptor.key }))
}

fn invalid(event: &NewEvent, pointer: &str, problem: String) -> EnqueueError {
    EnqueueError::Invalid { event: event.event_type.clone(), pointer: pointer.to_owned(), problem }
}
