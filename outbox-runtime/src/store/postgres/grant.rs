//! The rights that each kind of process needs, and no others.

use super::{PostgresStore, error::during};
use crate::store::StoreError;
use sqlx::SqlStr;

/// A kind of process, by what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Enqueues.
    Producer,
    /// Relays, and keeps the tables small.
    Relay,
    /// Runs consumers; they may enqueue too.
    Consumer,
}

impl PostgresStore {
    /// The statements that give the database role `name` what a process of that kind needs, for a person to read and run
    /// as the owner of the tables.
    #[must_use]
    pub fn grants(&self, role: Role, name: &str) -> String {
        self.grant_script(role, name).as_str().to_owned()
    }

    /// Gives the database role `name` what a process of that kind needs. Needs the owner's role, after `migrate`.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was granted.
    ///
    /// # Cancel safety
    /// If dropped, all or nothing was granted.
    pub async fn grant(&self, role: Role, name: &str) -> Result<(), StoreError> {
        // One message, so one transaction.
        let script = self.grant_script(role, name);
        sqlx::raw_sql(script).execute(self.pool()).await.map_err(during("grant rights to a role"))?;
        Ok(())
    }

    fn grant_script(&self, role: Role, name: &str) -> SqlStr {
        let own = match role {
            Role::Producer => "",
            Role::Relay => include_str!("grants/relay.sql"),
            Role::Consumer => include_str!("grants/consumer.sql"),
        };
        self.sql().grants(&format!("{}{own}", include_str!("grants/producer.sql")), name)
    }
}
