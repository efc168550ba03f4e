//! Addresses of servers: as they are used, and as they may be shown.

use super::output::inert;
use std::fmt;

/// An address that shows neither user, password nor parameters, where secrets stand.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Address {
    text: String,
}

impl Address {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// The whole, secrets included.
    pub(super) fn secret(&self) -> &str {
        &self.text
    }

    /// The part before the first colon, in lower case.
    pub(super) fn scheme(&self) -> String {
        self.text.split(':').next().unwrap_or_default().to_ascii_lowercase()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.text.split(',').map(shown).collect();
        f.write_str(&inert(&shown.join(",")))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// One address without what stands before its last `@` and behind its first `?`.
fn shown(text: &str) -> String {
    let public = text.split('?').next().unwrap_or_default();
    match public.split_once("://") {
        Some((scheme, rest)) => {
            let place = rest.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{place}")
        }
        // Not known to be an address: it might be all password.
        None => public.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        for (text, shown) in [
            ("postgres://ann:s3cret@db:5432/shop?password=s3cret", "postgres://db:5432/shop"),
            ("postgres://ann:s3@cr/et@db/shop", "postgres://db/shop"),
            ("nats://s3cret@a:4222,nats://u:s3cret@b:4222", "nats://a:4222,nats://b:4222"),
            ("sqlite://shop.db", "sqlite://shop.db"),
        ] {
            let address = Address::new(text);
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{address:?}").contains("s3cret"));
        }
    }
}
