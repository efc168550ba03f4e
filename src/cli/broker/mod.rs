//! Making the broker that an address names; one module each.

#[cfg(feature = "kafka")]
mod kafka;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "rabbitmq")]
mod rabbitmq;
#[cfg(feature = "redis")]
mod redis;

use super::{address::Address, args::RelayArgs, failure::Failure};
use crate::broker::Broker;
use std::sync::Arc;

type Make = fn(&RelayArgs) -> Arc<dyn Broker>;

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
pub(super) fn make(args: &RelayArgs) -> Result<Arc<dyn Broker>, Failure> {
    let scheme = Address::new(&args.broker).scheme();
    match BROKERS.iter().find(|(schemes, _)| schemes.contains(&scheme.as_str())) {
        Some((_, make)) => Ok(make(args)),
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
