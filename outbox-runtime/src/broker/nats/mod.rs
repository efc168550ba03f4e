//! NATS JetStream: light, fast, with replay; for topics that outgrow one machine without needing Kafka.
//!
//! A topic is the stream `<topic>`, an event has the subject `<topic>.<partition>.<type>`, and each partition of a
//! consumer is one filtered durable pull consumer `<consumer>-<partition>` with each dot of the name as `=`. The
//! metadata travels as CloudEvents headers `ce-…`, the payload as it is stored.
//!
//! Promised: a confirmed event is in the stream's file; a second copy within the dedup window is dropped and reported;
//! deliveries of one key come in the stream's order, also after a nack, a lost connection or a take-over
//! ([`subscribe`](self)). Not promised: order among publishes in flight. So the relay never has two of one key.
//!
//! Works with servers from 2.9 on and uses nothing that 2.9 would ignore in silence.

mod config;
mod durable;
mod error;
mod examine;
mod header;
mod missing;
mod position;
mod publish;
mod subscribe;
mod topic;

pub use config::NatsConfig;

use super::{
    Broker, BrokerError, Capabilities, Examination, Outgoing, Published, Subscription, SubscriptionConfig,
    partition,
};
use crate::finding::Finding;
use async_nats::jetstream::{self, context::RequestErrorKind, response::Response};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr, connection::State};
use error::{NAME, disconnected, of_client, refused, unavailable};
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use std::{collections::HashSet, fmt, sync::Mutex};
use tokio::sync::OnceCell;

/// The body of a request that has nothing to say: an empty object.
#[derive(serde::Serialize)]
struct NoBody {}

/// The broker NATS JetStream; one connection, which the client makes anew by itself.
pub struct NatsBroker {
    config: NatsConfig,
    connection: OnceCell<jetstream::Context>,
    /// The topics that this process has seen to be declared as it is configured.
    declared: Mutex<HashSet<String>>,
    missed: position::Missed,
}

impl NatsBroker {
    /// A broker that connects when it is first needed.
    #[must_use]
    pub fn new(config: NatsConfig) -> Self {
        Self {
            config,
            connection: OnceCell::new(),
            declared: Mutex::default(),
            missed: position::Missed::default(),
        }
    }

    /// The connection, made by the first caller.
    async fn context(&self) -> Result<&jetstream::Context, BrokerError> {
        self.connection.get_or_try_init(|| connect(&self.config)).await
    }

    /// The connection, unless it is known to be down: whoever waits for an answer then waits in vain.
    async fn live_context(&self, action: &'static str) -> Result<&jetstream::Context, BrokerError> {
        let context = self.context().await?;
        match context.client().connection_state() {
            State::Connected => Ok(context),
            _ => Err(disconnected(action)),
        }
    }
}

impl fmt::Debug for NatsBroker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsBroker").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Broker for NatsBroker {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            ordered: true,
            replayable: true,
            dedup_window: self.config.dedup_window,
            bytes_max: self.connection.get().map(|context| context.client().max_payload()),
            ..Capabilities::least(NAME)
        }
    }

    fn connect(&self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(async {
            let context = self.live_context("connect").await?;
            look_into_account(context).await?;
            for topic in &self.config.topics {
                self.declare(topic).await?;
            }
            Ok(())
        })
    }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        Box::pin(self.publish_batch(batch))
    }

    fn subscribe<'a>(
        &'a self,
        subscription: &'a SubscriptionConfig,
    ) -> BoxFuture<'a, Result<Box<dyn Subscription>, BrokerError>> {
        Box::pin(async {
            self.declare(&subscription.topic).await?;
            let context = self.live_context("subscribe").await?;
            self.tell_missed(context, subscription).await;
            let opened = subscribe::NatsSubscription::open(context.clone(), subscription.clone()).await;
            if opened.as_ref().is_err_and(topic::is_missing) {
                // The next try declares it again.
                self.forget(&subscription.topic);
            }
            Ok(Box::new(opened?) as Box<dyn Subscription>)
        })
    }

    fn partitions<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<Vec<String>, BrokerError>> {
        Box::pin(async move {
            self.declare(topic).await?;
            Ok(partition::names(self.config.partitions))
        })
    }

    fn examine<'a>(&'a self, asked: &'a Examination) -> BoxFuture<'a, Result<Vec<Finding>, BrokerError>> {
        Box::pin(self.examine_topics(asked))
    }
}

async fn connect(config: &NatsConfig) -> Result<jetstream::Context, BrokerError> {
    const ACTION: &str = "connect";
    const MALFORMED: &str = "a server's address is malformed";
    if config.partitions == 0 {
        return Err(refused(ACTION, "`partitions` is 0; configure at least 1", "no partition"));
    }
    let mut options = ConnectOptions::new()
        .name(&config.client_name)
        .connection_timeout(config.request_timeout)
        .request_timeout(Some(config.request_timeout))
        .require_tls(config.require_tls)
        .event_callback(|event| async move { report(&event) });
    if let Some(file) = &config.root_certificates {
        options = options.add_root_certificates(file.clone());
    }
    let servers: Result<Vec<ServerAddr>, _> =
        config.servers.split(',').map(|server| server.trim().parse()).collect();
    let servers = servers.map_err(|error| refused(ACTION, MALFORMED, error))?;
    options = with_credentials(options, &servers);
    let client = options.connect(servers).await.map_err(|error| match error.kind() {
        ConnectErrorKind::ServerParse => refused(ACTION, MALFORMED, error),
        ConnectErrorKind::Tls => refused(ACTION, "TLS is set up wrong; check the certificates", error),
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            refused(ACTION, "the server does not accept these credentials", error)
        }
        _ => unavailable(ACTION, error),
    })?;
    Ok(context_of(client, config))
}

/// The credentials that stand in an address, for all servers: the client itself does not look for them there.
fn with_credentials(options: ConnectOptions, servers: &[ServerAddr]) -> ConnectOptions {
    let mut named = servers.iter().filter_map(|server| Some((server.username()?, server.password())));
    match named.next() {
        Some((user, Some(password))) => {
            options.user_and_password(header::decode(user), header::decode(password))
        }
        Some((token, None)) => options.token(header::decode(token)),
        None => options,
    }
}

fn context_of(client: Client, config: &NatsConfig) -> jetstream::Context {
    jetstream::ContextBuilder::new().timeout(config.request_timeout).build(client)
}

fn report(event: &Event) {
    match event {
        Event::Connected => tracing::info!("connected to a NATS server"),
        Event::Disconnected => tracing::warn!("the connection to NATS was lost and is made again"),
        // Mostly a missing permission, which the server tells in no other way.
        Event::ServerError(error) => tracing::error!(%error, "the NATS server reported an error"),
        event => tracing::warn!(%event, "the NATS client reported an event"),
    }
}

/// The one question that says whether JetStream is on. What a server answers differs by version.
async fn look_into_account(context: &jetstream::Context) -> Result<(), BrokerError> {
    let answer: Result<serde_json::Value, _> = request(context, "read the account", "INFO", &NoBody {}).await;
    answer.map(drop)
}

/// One request to the JetStream API.
async fn request<T: DeserializeOwned>(
    context: &jetstream::Context,
    action: &'static str,
    subject: &str,
    body: &(impl serde::Serialize + ?Sized),
) -> Result<T, BrokerError> {
    match context.request(subject.to_owned(), body).await {
        Ok(Response::Ok(answer)) => Ok(answer),
        Ok(Response::Err { error }) => Err(error::answered(action, error)),
        Err(error) if error.kind() == RequestErrorKind::InvalidSubject => {
            Err(refused(action, "the name has a character that NATS does not take", error))
        }
        Err(error) => Err(of_client(action, error)),
    }
}
