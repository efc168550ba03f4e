//! PostgreSQL.

use super::{Connector, Database, Place, Repaired};
use crate::{
    StoreError,
    cli::{args::DebeziumArgs, failure::Failure},
    postgres::{DebeziumConfig, PostgresConfig, PostgresStore},
};
use std::time::Duration;

impl Database for PostgresStore {
    const SCHEMES: &'static [&'static str] = &["postgres", "postgresql"];

    fn accept(_place: &Place, _creates: bool) -> Result<(), Failure> {
        Ok(())
    }

    async fn open(place: &Place) -> Result<Self, StoreError> {
        // The command waits by itself, for every database in the same way.
        let patience = Duration::ZERO;
        let prefix = place.prefix.clone();
        let retention = place.retention;
        let mut config = PostgresConfig { prefix, patience, retention, ..PostgresConfig::default() };
        if let Some(schema) = &place.schema {
            config.schema.clone_from(schema);
        }
        Self::connect_with(place.address.secret(), config).await
    }

    async fn repair(&self) -> Result<Option<Repaired>, StoreError> {
        let repaired = Self::repair(self).await?;
        Ok(Some(Repaired { next_seq: repaired.next_seq, rereading: repaired.rereading }))
    }

    async fn debezium(&self, args: &DebeziumArgs) -> Result<Option<Connector>, StoreError> {
        let debezium = Self::debezium(
            self,
            &DebeziumConfig {
                name: args.name.clone(),
                role: args.role.clone(),
                partitions: args.partitions,
                relay: args.relay.clone(),
            },
        )
        .await?;
        Ok(Some(Connector {
            properties: debezium.properties(),
            publication: debezium.publication,
            settings: debezium.settings,
            is_logical: debezium.is_logical,
        }))
    }
}
