//! Redis Streams.

use crate::{
    broker::Broker,
    cli::broker::Place,
    redis::{RedisBroker, RedisConfig},
};
use std::{path::Path, sync::Arc};

/// The schemes of its addresses.
pub(super) const SCHEMES: &[&str] = &["redis", "rediss"];

/// The broker at the address that was typed.
pub(super) fn make(place: &Place<'_>) -> Arc<dyn Broker> {
    Arc::new(RedisBroker::new(RedisConfig {
        server: place.url.to_owned(),
        root_certificates: place.certificates.map(Path::to_owned),
        content_mode: place.content_mode,
        ..RedisConfig::default()
    }))
}
