//! What Debezium needs to read the log: a publication, and the settings of its connector.
//!
//! What a consumer then gets is what a relay to Kafka gives it: topic, key, partition, payload and CloudEvents headers, each header
//! from its own column. Only what a router cannot do differs: a column that is null is a header without a value, and the user
//! headers are one header, which our consumers read too.

use super::{PostgresStore, error::during};
use crate::{
    envelope::Seq,
    held::Stage,
    store::{StoreError, sql::quote_identifier},
};
use sqlx::postgres::PgSslMode;

/// How Debezium is to read the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebeziumConfig {
    /// The name of the connector, of its publication and its slot; of `a-z`, `0-9` and `_`, at most 63 bytes. No two connectors
    /// of one server may share it. Default `outbox_` and the database's name.
    pub name: Option<String>,
    /// The database role that the connector logs in as.
    pub role: String,
    /// The partitions of a topic that is missing: those that relays and consumers are configured with.
    pub partitions: u16,
    /// The relay that it takes over from or runs beside: it begins where that one stands, and with the whole log where there is
    /// no such relay.
    pub relay: String,
}

/// A connector of Debezium; see [`PostgresStore::debezium`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Debezium {
    /// The statements that the role which owns the tables runs once, before the connector starts.
    pub publication: String,
    /// The settings of the connector by name, its own `name` first.
    pub settings: Vec<(String, String)>,
    /// It sends what the log has behind this number, then everything that is committed.
    pub after: Seq,
    /// Whether the server's `wal_level` is `logical`, without which no connector starts.
    pub is_logical: bool,
}

impl PostgresStore {
    /// What it takes to have Debezium read this log, in place of a relay to Kafka or beside one.
    ///
    /// # Errors
    /// [`StoreError`], also when a name cannot be told to Debezium.
    ///
    /// # Cancel safety
    /// If dropped, call it again.
    pub async fn debezium(&self, config: &DebeziumConfig) -> Result<Debezium, StoreError> {
        let (settled, database, is_logical): (Option<i64>, String, bool) =
            sqlx::query_as(self.sql().select_debezium.clone())
                .bind(Stage::relay(&config.relay).as_str())
                .fetch_one(self.pool())
                .await
                .map_err(during("look where the relay stands"))?;
        let name = config.name.clone().unwrap_or_else(|| name_for(&database));
        check_name(&name)?;
        let table = self.table_for_debezium()?;
        let after = settled.map_or(Seq::ORIGIN, Seq);
        let role = quote_identifier(&config.role);
        let publication =
            self.sql().filled_with(include_str!("debezium/publication.sql"), |found| match found {
                "name:name" => Some(quote_identifier(&name)),
                "role:name" => Some(role.clone()),
                _ => None,
            });
        let select = self.sql().filled_with(include_str!("debezium/snapshot.sql"), |found| {
            (found == "after:number").then(|| after.to_string())
        });
        let options = self.pool().connect_options();
        // A socket is of this machine, and Debezium knows none.
        let host = Some(options.get_host()).filter(|host| !host.starts_with('/')).unwrap_or("localhost");
        let (port, partitions) = (options.get_port().to_string(), config.partitions.to_string());
        let values = [
            ("{name}", name.as_str()),
            ("{host}", host),
            ("{port}", &port),
            ("{database}", &database),
            ("{role}", &config.role),
            ("{sslmode}", ssl_mode(options.get_ssl_mode())),
            ("{table}", &table),
            ("{select}", select.as_str().trim()),
            ("{partitions}", &partitions),
        ];
        Ok(Debezium {
            publication: publication.as_str().to_owned(),
            settings: settings(&values),
            after,
            is_logical,
        })
    }

    /// The name of the log in settings that take it for a pattern, for a part of a list and for a part of another setting's name.
    fn table_for_debezium(&self) -> Result<String, StoreError> {
        let (schema, table) = (&self.config().schema, format!("{}log", self.config().prefix));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if format!("{schema}{table}").chars().all(is_plain) {
            return Ok(format!("{schema}.{table}"));
        }
        Err(StoreError::Schema {
            problem: format!("Debezium cannot be told of the table {table:?} in the schema {schema:?}"),
            fix: "use a schema and a prefix of letters, digits, `_` and `-`".to_owned(),
        })
    }
}

impl Debezium {
    /// The settings as a file of properties, as Kafka Connect's standalone program reads it.
    #[must_use]
    pub fn properties(&self) -> String {
        self.settings.iter().map(|(name, value)| format!("{name}={}\n", property(value))).collect()
    }
}

/// How the connection is secured, in the words that PostgreSQL's own clients and Debezium have for it.
fn ssl_mode(mode: PgSslMode) -> &'static str {
    match mode {
        PgSslMode::Disable => "disable",
        PgSslMode::Allow => "allow",
        PgSslMode::Prefer => "prefer",
        PgSslMode::Require => "require",
        PgSslMode::VerifyCa => "verify-ca",
        PgSslMode::VerifyFull => "verify-full",
    }
}

/// The settings of the template, filled in.
fn settings(values: &[(&str, &str)]) -> Vec<(String, String)> {
    let fill = |text: &str| {
        values.iter().fold(text.to_owned(), |filled, (placeholder, value)| filled.replace(placeholder, value))
    };
    include_str!("debezium/connector.properties")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (fill(name), fill(value)))
        .collect()
}

/// A value as it stands in a file of Java's properties, whose encoding is Latin-1.
fn property(value: &str) -> String {
    value.chars().fold(String::with_capacity(value.len()), |mut text, c| {
        match c {
            '\\' => text.push_str("\\\\"),
            ' ' if text.is_empty() => text.push_str("\\ "),
            ' '..='~' => text.push(c),
            _ => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}"))),
        }
        text
    })
}

/// A name for the connector of a database.
fn name_for(database: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format!("outbox_{database}").chars().map(plain).take(NAME_BYTES_MAX).collect()
}

/// The longest name of a slot.
const NAME_BYTES_MAX: usize = 63;

/// A slot takes the fewest names of all that it is used for.
fn check_name(name: &str) -> Result<(), StoreError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(StoreError::Schema {
        problem: format!("{name:?} is no name for a replication slot"),
        fix: format!("use 1 to {NAME_BYTES_MAX} of `a-z`, `0-9` and `_`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_in_a_file_of_properties_as_it_is() {
        assert_eq!(property(r" a\b = c"), r"\ a\\b = c");
        assert_eq!(property("ü\n😀"), r"\u00fc\u000a\ud83d\ude00");
    }

    #[test]
    fn a_connector_is_named_after_its_database() {
        assert_eq!(name_for("Shop-1"), "outbox_shop_1");
        assert!(check_name(&name_for(&"ü".repeat(63))).is_ok());
        for wrong in ["", "Shop", "a-b", &"x".repeat(64)] {
            assert!(check_name(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn nothing_in_a_setting_is_left_open() {
        let filled =
            settings(&[("{name}", "shop"), ("{table}", "public.outbox_log"), ("{select}", "SELECT 1")]);
        assert_eq!(filled[0], ("name".to_owned(), "shop".to_owned()));
        let select =
            ("snapshot.select.statement.overrides.public.outbox_log".to_owned(), "SELECT 1".to_owned());
        assert!(filled.contains(&select));
    }
}
