//! The connections: one that publishes and one that consumes, each made anew after it failed.
//!
//! They are two, since a server that has raised an alarm reads nothing from a connection that publishes, not even acks.

use super::{
    config::RabbitMqConfig,
    error::{of_connection, refused, unavailable},
};
use crate::broker::{BrokerError, tls};
use lapin::{
    Connection, ConnectionProperties,
    tcp::{AMQPUriTcpExt, OwnedTLSConfig},
    uri::AMQPUri,
};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex as SyncMutex},
    time::Instant,
};
use tokio::{sync::Mutex, time::timeout};
use tracing::subscriber::{NoSubscriber, set_default};

/// One of the two connections of a broker.
pub(super) struct Line {
    pub(super) config: Arc<RabbitMqConfig>,
    current: Mutex<Option<Arc<Link>>>,
}

/// One connection while it lasts. The server behind the next may be another one, so what was declared counts for this one.
pub(super) struct Link {
    pub(super) connection: Connection,
    /// When what was declared last.
    pub(super) declared: SyncMutex<HashMap<String, Instant>>,
}

impl Line {
    pub(super) fn new(config: Arc<RabbitMqConfig>) -> Self {
        Self { config, current: Mutex::default() }
    }

    /// The connection, made by the first caller and again after it failed.
    pub(super) async fn link(&self, action: &'static str) -> Result<Arc<Link>, BrokerError> {
        let mut current = self.current.lock().await;
        if let Some(link) = current.as_ref().filter(|link| link.connection.status().connected()) {
            return Ok(link.clone());
        }
        *current = None;
        let connection = self.within(action, connect(&self.config, action)).await??;
        let link = Arc::new(Link { connection, declared: SyncMutex::default() });
        *current = Some(link.clone());
        Ok(link)
    }

    /// Waits for an answer over this connection, which is given up if none comes in time.
    pub(super) async fn answer<T>(
        &self,
        link: &Arc<Link>,
        action: &'static str,
        request: impl Future<Output = T>,
    ) -> Result<T, BrokerError> {
        let answer = self.within(action, request).await;
        if answer.is_err() {
            self.give_up(link).await;
        }
        answer
    }

    /// Uses this connection no more, if it is still the one in use.
    pub(super) async fn give_up(&self, link: &Arc<Link>) {
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, link)) {
            *current = None;
        }
    }

    async fn within<T>(
        &self,
        action: &'static str,
        request: impl Future<Output = T>,
    ) -> Result<T, BrokerError> {
        timeout(self.config.request_timeout, request).await.map_err(|elapsed| unavailable(action, elapsed))
    }
}

/// Shows no server address: it may hold a password.
impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("config", &self.config).finish_non_exhaustive()
    }
}

async fn connect(config: &RabbitMqConfig, action: &'static str) -> Result<Connection, BrokerError> {
    if config.partitions == 0 {
        return Err(refused(action, "`partitions` is 0; configure at least 1", "no partition"));
    }
    let uri = address(config, action)?;
    let read = |file| std::fs::read_to_string(file);
    let cert_chain = config.root_certificates.as_ref().map(read).transpose();
    let cert_chain =
        cert_chain.map_err(|error| refused(action, "the file of certificates could not be read", error))?;
    let tls = OwnedTLSConfig { identity: None, cert_chain };
    tls::provide_cryptography();
    let runtime = lapin::runtime::default_runtime().map_err(|error| of_connection(action, error))?;
    let properties = ConnectionProperties::default().with_connection_name(config.client_name.as_str().into());
    let connected = Connection::connector(
        uri,
        runtime,
        async move |uri, runtime| {
            silence_thread();
            Ok(uri.connect_with_config_async(tls.as_ref(), &runtime).await?)
        },
        properties,
    );
    connected.await.map_err(|error| of_connection(action, error))
}

/// The thread of a connection, which begins by dialling, logs nothing from here on: the client would log messages that come
/// back whole, with their payloads.
fn silence_thread() {
    std::mem::forget(set_default(NoSubscriber::new()));
}

/// The address in parts. The client's own error would show it whole.
fn address(config: &RabbitMqConfig, action: &'static str) -> Result<AMQPUri, BrokerError> {
    let malformed =
        || refused(action, "the server's address is malformed", "write amqp://user:password@host:port/vhost");
    let mut uri: AMQPUri = config.server.parse().map_err(|_| malformed())?;
    if let Some(host) = ip6_host(&config.server) {
        uri.authority.host = host.to_owned();
    }
    let secs = u16::try_from(config.heartbeat.as_secs()).unwrap_or(u16::MAX).max(1);
    uri.query.heartbeat.get_or_insert(secs);
    Ok(uri)
}

/// The host in brackets, which the client takes for none.
fn ip6_host(server: &str) -> Option<&str> {
    let (_, rest) = server.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (_, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    Some(host.strip_prefix('[')?.split_once(']')?.0)
}

#[cfg(test)]
mod tests {
    use super::{RabbitMqConfig, address};

    fn host_of(server: &str) -> String {
        address(&RabbitMqConfig { server: server.into(), ..RabbitMqConfig::default() }, "connect")
            .unwrap()
            .authority
            .host
    }

    #[test]
    fn an_address_leads_where_it_says() {
        assert_eq!(host_of("amqp://10.0.0.7"), "10.0.0.7");
        assert_eq!(host_of("amqps://me:p%40w@rabbit.local:5671/orders"), "rabbit.local");
        assert_eq!(host_of("amqp://[::1]:5672/%2f"), "::1");
        assert_eq!(host_of("amqp://me:pw@[fe80::1]/?heartbeat=3"), "fe80::1");
    }

    #[test]
    fn a_malformed_address_is_not_shown() {
        for server in ["amqp://me:s3cret@127.0.0.1:port", "http://me:s3cret@127.0.0.1", "amqp:me:s3cret", ""]
        {
            let config = RabbitMqConfig { server: server.into(), ..RabbitMqConfig::default() };
            let error = address(&config, "connect").unwrap_err();
            assert!(
                !error.is_transient() && !format!("{error:?} {config:?}").contains("s3cret"),
                "{error:?}"
            );
        }
    }
}
