//! SQLite: the address is a file.

use super::{Connector, Database, Place, Repaired};
use crate::{
    StoreError,
    cli::{args::DebeziumArgs, failure::Failure},
    sqlite::SqliteStore,
};
use std::path::Path;

impl Database for SqliteStore {
    const SCHEMES: &'static [&'static str] = &["sqlite"];

    /// Only `migrate` makes a file: else a mistyped name would be answered by an empty database, as if all were well.
    fn accept(place: &Place, creates: bool) -> Result<(), Failure> {
        if place.schema.is_some() {
            return Err(Failure::Usage(
                "SQLite has no schemas; leave `--schema` out, or use `--prefix`".to_owned(),
            ));
        }
        let file = file(place.address.secret());
        if creates || file == ":memory:" || Path::new(file).exists() {
            Ok(())
        } else {
            Err(Failure::FileMissing { address: place.address.clone() })
        }
    }

    async fn open(place: &Place) -> Result<Self, StoreError> {
        Self::open_with_prefix(place.address.secret(), &place.prefix).await
    }

    /// SQLite has one writer, and its numbers are restored with its rows.
    async fn repair(&self) -> Result<Option<Repaired>, StoreError> {
        Ok(None)
    }

    async fn debezium(&self, _: &DebeziumArgs) -> Result<Option<Connector>, StoreError> {
        Ok(None)
    }
}

/// The file of an address such as `sqlite://shop.db?mode=rw`.
fn file(url: &str) -> &str {
    let rest = url.split_once(':').map_or(url, |(_, rest)| rest);
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    rest.split('?').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::file;

    #[test]
    fn the_file_of_an_address_is_found() {
        assert_eq!(file("sqlite://data/shop.db?mode=rw"), "data/shop.db");
        assert_eq!(file("sqlite:///data/shop.db"), "/data/shop.db");
        assert_eq!(file("sqlite:shop.db"), "shop.db");
        assert_eq!(file("sqlite::memory:"), ":memory:");
    }
}
