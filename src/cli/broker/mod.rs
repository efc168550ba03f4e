//! Making the broker that an address names; one module each.

#[cfg(feature = "kafka")]
mod kafka;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "rabbitmq")]
mod rabbitmq;
#[cfg(feature = "redis")]
mod redis;

use super::{address::Address, args::SetupArgs, failure::Failure};
use crate::broker::{Broker, cloudevents::ContentMode};
use std::sync::Arc;

/// Where a broker is, and who comes to it.
pub(super) struct Place<'a> {
    pub(super) url: &'a str,
    #[cfg_attr(
        not(any(feature = "kafka", feature = "nats", feature = "rabbitmq", feature = "redis")),
        expect(dead_code, reason = "a build without a broker reads the address alone")
    )]
    pub(super) setup: &'a SetupArgs,
    #[cfg_attr(
        not(any(feature = "kafka", feature = "nats", feature = "rabbitmq", feature = "redis")),
        expect(dead_code, reason = "a build without a broker reads the address alone")
    )]
    pub(super) content_mode: ContentMode,
    /// The name by which the broker shows the connection, where it does.
    #[cfg_attr(
        not(any(feature = "nats", feature = "rabbitmq")),
        expect(dead_code, reason = "the others show none")
    )]
    pub(super) client_name: String,
}

type Make = fn(&Place<'_>) -> Arc<dyn Broker>;

/// Every broker of this build, with the schemes of its addresses.
const BROKERS: &[(&[&str], Make)] = &[
    #[cfg(feature = "nats")]
    (nats::SCHEMES, nats::make),
    #[cfg(feature = "rabbitmq")]
    (rabbitmq::SCHEMES, rabbitmq::make),
    #[cfg(feature = "redis")]
    (redis::SCHEMES, redis::make),
    #[cfg(feature = "kafka")]
    (kafka::SCHEMES, kafka::make),
];

/// The broker that was named; it connects when it is first needed.
pub(super) fn make(place: &Place<'_>) -> Result<Arc<dyn Broker>, Failure> {
    let scheme = Address::new(place.url).scheme();
    match BROKERS.iter().find(|(schemes, _)| schemes.contains(&scheme.as_str())) {
        Some((_, make)) => Ok(make(place)),
        None => {
            let known: Vec<_> = BROKERS.iter().flat_map(|(schemes, _)| *schemes).copied().collect();
            Err(Failure::Usage(format!(
                "the broker's address has none of the schemes that this build knows ({}); correct it, or build with \
                 the feature of that broker",
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            )))
        }
    }
}
