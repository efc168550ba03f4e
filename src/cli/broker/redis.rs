//! Redis Streams.

use crate::{
    broker::Broker,
    cli::broker::Place,
    redis::{RedisBroker, RedisConfig},
};
use std::sync::Arc;

/// The schemes of its addresses.
pub(super) const SCHEMES: &[&str] = &["redis", "rediss"];

/// The broker at the address that was typed.
pub(super) fn make(place: &Place<'_>) -> Arc<dyn Broker> {
    Arc::new(RedisBroker::new(RedisConfig {
        server: place.url.to_owned(),
        root_certificates: place.setup.broker_certificates.clone(),
        partitions: place.setup.partitions,
        content_mode: place.content_mode,
        ..RedisConfig::default()
    }))
}
