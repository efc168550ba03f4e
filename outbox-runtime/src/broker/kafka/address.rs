//! Addresses and credentials, and the client's settings that follow from them.

use super::{config::KafkaConfig, error::refused};
use crate::broker::BrokerError;
use rdkafka::ClientConfig;

const PLAIN: &str = "kafka";
const OVER_TLS: &str = "kafka+ssl";

/// What every client begins with.
pub(super) fn client_of(config: &KafkaConfig, action: &'static str) -> Result<ClientConfig, BrokerError> {
    let address = parse(&config.servers).map_err(|problem| refused(action, &problem, "nobody was asked"))?;
    let mut client = ClientConfig::new();
    client.set("bootstrap.servers", address.servers.join(","));
    let protocol = match (address.is_over_tls, &address.credentials) {
        (false, None) => "plaintext",
        (false, Some(_)) => "sasl_plaintext",
        (true, None) => "ssl",
        (true, Some(_)) => "sasl_ssl",
    };
    if address.is_over_tls {
        if !has_tls() {
            let problem = "the client is built without TLS; add `rdkafka = { version = \"0.39\", features = [\"ssl\"] }` to \
                           your program, which brings OpenSSL";
            return Err(refused(action, problem, "nothing was sent in plain text"));
        }
        if let Some(certificates) = &config.root_certificates {
            client.set("ssl.ca.location", certificates.display().to_string());
        }
    }
    client.set("security.protocol", protocol);
    if let Some((user, password)) = address.credentials {
        client.set("sasl.mechanisms", "PLAIN").set("sasl.username", user).set("sasl.password", password);
    }
    client.extend(config.client.iter().cloned());
    Ok(client)
}

/// Whether the client was built with TLS: a program may turn it on for all that is in it.
fn has_tls() -> bool {
    let built_in =
        ClientConfig::new().create_native_config().and_then(|native| native.get("builtin.features"));
    built_in.is_ok_and(|features| features.split(',').any(|feature| feature.trim() == "ssl"))
}

#[derive(Debug, PartialEq, Eq)]
struct Address {
    servers: Vec<String>,
    is_over_tls: bool,
    credentials: Option<(String, String)>,
}

/// The parts of an address; the error shows none of them.
fn parse(text: &str) -> Result<Address, String> {
    let mut address = Address { servers: Vec::new(), is_over_tls: false, credentials: None };
    let mut scheme = None;
    for server in text.split(',') {
        let place = match server.split_once("://") {
            Some((named, place)) => {
                let named = named.to_ascii_lowercase();
                if scheme.as_ref().is_some_and(|scheme| *scheme != named) {
                    return Err("the addresses have different schemes".to_owned());
                }
                scheme = Some(named);
                place
            }
            None => server,
        };
        let (credentials, place) = match place.rsplit_once('@') {
            Some((credentials, place)) => (Some(credentials_of(credentials)?), place),
            None => (None, place),
        };
        if credentials.is_some() {
            if address.credentials.is_some() && address.credentials != credentials {
                return Err("the addresses have different credentials".to_owned());
            }
            address.credentials = credentials;
        }
        let place = place.trim_end_matches('/');
        let is_place = place.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty() && port.parse::<u16>().is_ok() && !place.contains('/')
        });
        if !is_place {
            return Err(
                "an address is malformed; write `kafka://host:port`, several joined by commas".to_owned()
            );
        }
        address.servers.push(place.to_owned());
    }
    address.is_over_tls = match scheme.as_deref() {
        Some(PLAIN) => false,
        Some(OVER_TLS) => true,
        _ => return Err(format!("an address begins with `{PLAIN}://` or `{OVER_TLS}://`")),
    };
    Ok(address)
}

fn credentials_of(text: &str) -> Result<(String, String), String> {
    let (user, password) = text.split_once(':').ok_or("credentials are written `user:password@`")?;
    let decoded = |text| decode(text).ok_or("a user or password is not percent-encoded".to_owned());
    Ok((decoded(user)?, decoded(password)?))
}

/// What a percent-encoded text stands for.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, behind @ ..] = rest {
        rest = behind;
        if *byte == b'%' {
            let (hex, behind) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?);
            rest = behind;
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Address, KafkaConfig, client_of, has_tls, parse};

    #[test]
    fn servers_credentials_and_tls_are_read_from_the_address() {
        let address = |servers: &[&str], is_over_tls, credentials: Option<(&str, &str)>| {
            let servers = servers.iter().map(|&server| server.to_owned()).collect();
            let credentials = credentials.map(|(user, password)| (user.to_owned(), password.to_owned()));
            Ok(Address { servers, is_over_tls, credentials })
        };
        assert_eq!(parse("kafka://a:9092"), address(&["a:9092"], false, None));
        assert_eq!(parse("kafka://a:9092,kafka://[::1]:1/"), address(&["a:9092", "[::1]:1"], false, None));
        assert_eq!(
            parse("kafka+ssl://ann:s%40f%3Ae@a:9092,b:9093"),
            address(&["a:9092", "b:9093"], true, Some(("ann", "s@f:e")))
        );
    }

    #[test]
    fn a_malformed_address_is_refused_and_shows_no_secret() {
        for wrong in [
            "",
            "kafka://",
            "a:9092",
            "http://a:9092",
            "kafka://a",
            "kafka://a:port",
            "kafka://:9092",
            "kafka://s3cret@a:1",
            "kafka://ann:s3cret%4@a:1",
            "kafka://ann:s3cret@a:1/path",
            "kafka://ann:s3cret@a:1,kafka://ann:other@b:1",
            "kafka://a:1,kafka+ssl://ann:s3cret@b:1",
        ] {
            let problem = parse(wrong).unwrap_err();
            assert!(!problem.contains("s3cret"), "{problem}");
        }
    }

    #[test]
    fn tls_is_refused_where_the_client_has_none() {
        let config = KafkaConfig { servers: "kafka+ssl://a:9092".to_owned(), ..KafkaConfig::default() };
        let client = client_of(&config, "connect");
        if has_tls() {
            assert_eq!(client.unwrap().get("security.protocol"), Some("ssl"));
        } else {
            let error = client.unwrap_err();
            assert!(error.to_string().contains("features = [\"ssl\"]") && !error.is_transient(), "{error}");
        }
    }
}
