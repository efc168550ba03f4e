//! NATS JetStream.

use crate::{
    broker::Broker,
    cli::broker::Place,
    nats::{NatsBroker, NatsConfig},
};
use std::sync::Arc;

/// The schemes of its addresses.
pub(super) const SCHEMES: &[&str] = &["nats", "tls"];

/// The broker at the address that was typed.
pub(super) fn make(place: &Place<'_>) -> Arc<dyn Broker> {
    Arc::new(NatsBroker::new(NatsConfig {
        servers: place.url.to_owned(),
        root_certificates: place.setup.broker_certificates.clone(),
        client_name: place.client_name.clone(),
        partitions: place.setup.partitions,
        content_mode: place.content_mode,
        ..NatsConfig::default()
    }))
}
