//! What can be typed after `doctor`.

use crate::{broker::partition::PARTITIONS_DEFAULT, cli::moment};
use std::{path::PathBuf, time::Duration};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DoctorArgs {
    /// Looks at this broker too, written as for `relay`
    #[arg(long, value_name = "URL", env = "OUTBOX_BROKER_URL", hide_env_values = true)]
    pub(in crate::cli) broker: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) setup: SetupArgs,
    /// A topic to look at; may be given several times [default: those of the newest events and of the consumers of this database]
    #[arg(long = "topic", value_name = "TOPIC", requires = "broker")]
    pub(in crate::cli) topics: Vec<String>,
    /// A consumer with a database of its own, which is looked at too (RabbitMQ), or before others (Kafka, where there are many); may
    /// be given several times
    #[arg(long = "consumer", value_name = "NAME", requires = "broker")]
    pub(in crate::cli) consumers: Vec<String>,
    /// How long the consumers remember what they have handled (`Retention::inbox`)
    #[arg(long, value_name = "SPAN", default_value = "7d", value_parser = moment::span)]
    pub(in crate::cli) inbox: Duration,
}

/// What a broker is like, beside its address.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct SetupArgs {
    /// A file with the certificates to trust: beside the system's for NATS and RabbitMQ, in place of
    /// them for Redis and Kafka
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) broker_certificates: Option<PathBuf>,
    /// The partitions of a topic, the same number for every relay and consumer
    #[arg(long, value_name = "N", default_value_t = PARTITIONS_DEFAULT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(in crate::cli) partitions: u16,
}
