//! Kafka.

use crate::{
    broker::Broker,
    cli::broker::Place,
    kafka::{KafkaBroker, KafkaConfig},
};
use std::sync::Arc;

/// The schemes of its addresses.
pub(super) const SCHEMES: &[&str] = &["kafka", "kafka+ssl"];

/// The broker at the address that was typed.
pub(super) fn make(place: &Place<'_>) -> Arc<dyn Broker> {
    Arc::new(KafkaBroker::new(KafkaConfig {
        servers: place.url.to_owned(),
        root_certificates: place.setup.broker_certificates.clone(),
        partitions: place.setup.partitions,
        content_mode: place.content_mode,
        ..KafkaConfig::default()
    }))
}
