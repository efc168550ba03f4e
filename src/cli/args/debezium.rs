//! What can be typed after `debezium-config`.

use crate::broker::partition::PARTITIONS_DEFAULT;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DebeziumArgs {
    /// The name of the connector, its publication and its slot; no two of one server may share it [default: `outbox_` and the
    /// database's name]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) name: Option<String>,
    /// The database role that the connector logs in as; its password is taken from OUTBOX_DEBEZIUM_PASSWORD of Kafka Connect
    #[arg(long, value_name = "NAME", default_value = "debezium")]
    pub(in crate::cli) role: String,
    /// The partitions of a topic that the connector makes: those that relays and consumers are configured with
    #[arg(long, value_name = "N", default_value_t = PARTITIONS_DEFAULT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(in crate::cli) partitions: u16,
    /// The relay that it takes over from or runs beside: it begins where that one stands
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(in crate::cli) relay: String,
}
