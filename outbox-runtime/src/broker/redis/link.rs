//! The connections: one that all commands share, made anew after it failed, and one for each subscription's reads.

use super::{
    config::RedisConfig,
    error::{of, refused},
};
use crate::broker::{BrokerError, tls};
use redis_client::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, RedisError, RedisResult,
    TlsCertificates, aio::MultiplexedConnection,
};
use std::{collections::HashSet, fmt, time::Duration};
use tokio::sync::Mutex;

/// What the subscriptions of a broker share with it.
pub(super) struct Link {
    pub(super) config: RedisConfig,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<MultiplexedConnection>,
    /// Counts the connections, so that one that failed is told from its successor.
    number: u64,
    /// The topics that this connection has seen to be declared as it is configured.
    declared: HashSet<String>,
}

/// The shared connection, to be used now.
pub(super) struct Shared {
    pub(super) connection: MultiplexedConnection,
    number: u64,
}

impl Link {
    pub(super) fn new(config: RedisConfig) -> Self {
        Self { config, state: Mutex::default() }
    }

    /// The shared connection, made by the first caller and again after it failed.
    pub(super) async fn shared(&self, action: &'static str) -> Result<Shared, BrokerError> {
        let mut state = self.state.lock().await;
        let connection = match &state.connection {
            Some(connection) => connection.clone(),
            None => {
                let connection = self.connect(action, Duration::ZERO).await?;
                state.number += 1;
                state.connection = Some(connection.clone());
                connection
            }
        };
        Ok(Shared { connection, number: state.number })
    }

    /// Drops the shared connection if that is still the one that failed. The server behind the next may be another one, so
    /// nothing that was declared counts.
    pub(super) async fn failed(&self, shared: &Shared) {
        let mut state = self.state.lock().await;
        if state.number == shared.number {
            state.connection = None;
            state.declared.clear();
        }
    }

    pub(super) async fn is_declared(&self, topic: &str) -> bool {
        self.state.lock().await.declared.contains(topic)
    }

    pub(super) async fn set_declared(&self, shared: &Shared, topic: &str) {
        let mut state = self.state.lock().await;
        if state.number == shared.number {
            state.declared.insert(topic.to_owned());
        }
    }

    /// A connection of the caller's own, whose answers may come that much later.
    pub(super) async fn connect(
        &self,
        action: &'static str,
        block: Duration,
    ) -> Result<MultiplexedConnection, BrokerError> {
        if self.config.partitions == 0 {
            return Err(refused(action, "`partitions` is 0; configure at least 1", "no partition"));
        }
        let timeout = self.config.request_timeout;
        let limits = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(timeout))
            .set_response_timeout(Some(timeout + block));
        let client = self.client(action)?;
        client.get_multiplexed_async_connection_with_config(&limits).await.map_err(|error| of(action, error))
    }

    fn client(&self, action: &'static str) -> Result<Client, BrokerError> {
        let of_address = |error: RedisError| of(action, error);
        let info = self.config.server.as_str().into_connection_info().map_err(of_address)?;
        if !matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
            return Client::open(info).map_err(of_address);
        }
        tls::provide_cryptography();
        let certificates = self.config.root_certificates.as_ref().map(std::fs::read).transpose();
        let root_cert = certificates
            .map_err(|error| refused(action, "the file of certificates could not be read", error))?;
        Client::build_with_tls(info, TlsCertificates { client_tls: None, root_cert }).map_err(of_address)
    }
}

/// Shows no server address: it may hold a password.
impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("config", &self.config).finish_non_exhaustive()
    }
}

/// The answers to a pipeline, each its own result.
pub(super) type Answers = RedisResult<Vec<RedisResult<redis_client::Value>>>;
