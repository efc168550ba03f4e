//! RabbitMQ.

use crate::{
    broker::Broker,
    cli::broker::Place,
    rabbitmq::{RabbitMqBroker, RabbitMqConfig},
};
use std::sync::Arc;

/// The schemes of its addresses.
pub(super) const SCHEMES: &[&str] = &["amqp", "amqps"];

/// The broker at the address that was typed.
pub(super) fn make(place: &Place<'_>) -> Arc<dyn Broker> {
    Arc::new(RabbitMqBroker::new(RabbitMqConfig {
        server: place.url.to_owned(),
        root_certificates: place.setup.broker_certificates.clone(),
        client_name: place.client_name.clone(),
        partitions: place.setup.partitions,
        content_mode: place.content_mode,
        ..RabbitMqConfig::default()
    }))
}
