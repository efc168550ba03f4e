//! PostgreSQL.

use super::{Database, Place, Repaired};
use crate::{
    StoreError,
    cli::failure::Failure,
    postgres::{PostgresConfig, PostgresStore},
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
}
