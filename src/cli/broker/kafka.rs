//! Kafka.

use crate::{
    broker::Broker,
    cli::args::RelayArgs,
    kafka::{KafkaBroker, KafkaConfig},
};
use std::sync::Arc;

/// The schemes of its addresses.
pub(super) const SCHEMES: &[&str] = &["kafka", "kafka+ssl"];

/// The broker at the address that was typed.
pub(super) fn make(args: &RelayArgs) -> Arc<dyn Broker> {
    Arc::new(KafkaBroker::new(KafkaConfig {
        servers: args.broker.clone(),
        root_certificates: args.broker_certificates.clone(),
        content_mode: args.content_mode,
        ..KafkaConfig::default()
    }))
}
