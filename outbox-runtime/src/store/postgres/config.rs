//! Where the tables stand, and how long the store waits.

use crate::store::StoreError;
use std::time::Duration;

/// Configures a [`PostgresStore`](super::PostgresStore).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresConfig {
    /// The schema of the tables; default `public`. Made by `migrate` if it is missing.
    pub schema: String,
    /// What the names of the tables begin with; default `outbox_`. At most 40 bytes.
    pub prefix: String,
    /// How long the log keeps an event that every stage has settled, at least 6 seconds. Takes effect with the next
    /// `migrate`. By default that which the database has stays as it is; a new one gets 7 days.
    pub retention: Option<Duration>,
    /// The longest wait for a lock in a write of a leader; default 2 seconds.
    pub lock_wait_max: Duration,
    /// How long a leader's transaction may stand still before the database ends it; default 5 seconds. A paused process
    /// delays its successor by no more than this.
    pub idle_in_transaction_max: Duration,
    /// The longest statement of a stage; default 30 seconds. A connection that answers nothing for this long is given up.
    pub statement_max: Duration,
    /// How long [`PostgresStore::connect`](super::PostgresStore::connect) waits for a server that cannot be reached;
    /// default 30 seconds.
    pub patience: Duration,
}

impl Default for PostgresConfig {
    fn default() -> Self {
        Self {
            schema: "public".to_owned(),
            prefix: "outbox_".to_owned(),
            retention: None,
            lock_wait_max: Duration::from_secs(2),
            idle_in_transaction_max: Duration::from_secs(5),
            statement_max: Duration::from_secs(30),
            patience: Duration::from_secs(30),
        }
    }
}

/// The leaves of the ring that hold rows within the retention; two more are free or being cleared.
const SLOTS_PER_RETENTION: u64 = 6;

/// The retention of a new database that was told none.
const RETENTION_DEFAULT: Duration = Duration::from_secs(7 * 24 * 3600);

impl PostgresConfig {
    /// How long one leaf of a new log takes rows, or of one whose retention is changed, in seconds.
    pub(super) fn slot_secs(&self) -> u64 {
        (self.retention.unwrap_or(RETENTION_DEFAULT).as_secs() / SLOTS_PER_RETENTION).max(1)
    }

    /// The channel of notifications about these tables. A channel's name holds 63 bytes, hence the hash.
    pub(super) fn channel(&self) -> String {
        format!("outbox_{:016x}", self.names_hash())
    }

    /// The key of the lock that migrators of these tables take.
    pub(super) fn migration_lock(&self) -> i64 {
        self.names_hash().cast_signed()
    }

    /// FNV-1a, 64 bits (Fowler, Noll and Vo): equal in every build, as the standard library's hash is not.
    fn names_hash(&self) -> u64 {
        let names = self.schema.bytes().chain([0]).chain(self.prefix.bytes());
        names
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    /// Checks what the names of tables are made of. PostgreSQL would cut a name that is too long, without an error.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let refused = |problem: String| {
            Err(StoreError::Schema { problem, fix: "change `PostgresConfig` of this process".to_owned() })
        };
        if self.schema.is_empty() || self.schema.len() > 63 || self.schema.contains('\0') {
            return refused(format!("the schema {:?} is no name of 1 to 63 bytes", self.schema));
        }
        if self.prefix.len() > 40 || self.prefix.contains('\0') {
            return refused(format!("the prefix {:?} is longer than 40 bytes or has a NUL", self.prefix));
        }
        Ok(())
    }
}
