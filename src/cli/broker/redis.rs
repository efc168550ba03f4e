//! Redis Streams.

use crate::{
    broker::Broker,
    cli::args::RelayArgs,
    redis::{RedisBroker, RedisConfig},
};
use std::sync::Arc;

/// The schemes of its addresses.
pub(super) const SCHEMES: &[&str] = &["redis", "rediss"];

/// The broker at the address that was typed.
pub(super) fn make(args: &RelayArgs) -> Arc<dyn Broker> {
    Arc::new(RedisBroker::new(RedisConfig {
        server: args.broker.clone(),
        root_certificates: args.broker_certificates.clone(),
        content_mode: args.content_mode,
        ..RedisConfig::default()
    }))
}
