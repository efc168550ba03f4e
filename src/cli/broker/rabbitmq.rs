//! RabbitMQ.

use crate::{
    broker::Broker,
    cli::args::RelayArgs,
    rabbitmq::{RabbitMqBroker, RabbitMqConfig},
};
use std::sync::Arc;

/// The schemes of its addresses.
pub(super) const SCHEMES: &[&str] = &["amqp", "amqps"];

/// The broker at the address that was typed.
pub(super) fn make(args: &RelayArgs) -> Arc<dyn Broker> {
    Arc::new(RabbitMqBroker::new(RabbitMqConfig {
        server: args.broker.clone(),
        root_certificates: args.broker_certificates.clone(),
        content_mode: args.content_mode,
        client_name: format!("outbox relay {}", args.name),
        ..RabbitMqConfig::default()
    }))
}
