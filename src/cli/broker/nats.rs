//! NATS JetStream.

use crate::{
    broker::Broker,
    cli::args::RelayArgs,
    nats::{NatsBroker, NatsConfig},
};
use std::sync::Arc;

/// The schemes of its addresses.
pub(super) const SCHEMES: &[&str] = &["nats", "tls"];

/// The broker at the address that was typed.
pub(super) fn make(args: &RelayArgs) -> Arc<dyn Broker> {
    Arc::new(NatsBroker::new(NatsConfig {
        servers: args.broker.clone(),
        root_certificates: args.broker_certificates.clone(),
        content_mode: args.content_mode,
        client_name: format!("outbox relay {}", args.name),
        ..NatsConfig::default()
    }))
}
