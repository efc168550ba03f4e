//! The servers of one torture, and each process's own way to them.

use super::event::Told;
use super::ranges::AGAIN;
use super::{BrokerKind, Options, StoreKind, actor};
use crate::proxy::Proxy;
use crate::servers::{BrokerServer, Kafka, Nats, Postgres, RabbitMq, Redis};
use crate::world::introduce;
use outbox::Event;
use std::path::Path;

/// The most processes that have a way of their own to Kafka.
const ROUTES: usize = 24;

/// The database and the broker.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) postgres: Option<Postgres>,
    pub(super) broker: Option<BrokerServer>,
    /// The address of the database, without a proxy.
    pub(super) database: String,
}

/// One process's way to the servers: through proxies of its own, where there are servers.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) database: String,
    pub(super) broker: Option<String>,
    pub(super) proxies: Vec<Proxy>,
}

impl Ground {
    /// Starts the servers; `None` is a skip that has been printed.
    pub(super) async fn start(options: &Options, folder: &Path) -> Option<Self> {
        let broker = match options.broker {
            BrokerKind::Nats => Some(BrokerServer::Nats(nats(options.seed).await?)),
            BrokerKind::RabbitMq => Some(BrokerServer::RabbitMq(RabbitMq::private().await?)),
            BrokerKind::Redis => Some(BrokerServer::Redis(Redis::private().await?)),
            BrokerKind::Kafka => Some(BrokerServer::Kafka(Kafka::private_with(&[], ROUTES).await?)),
            BrokerKind::Local => None,
        };
        Some(match options.store {
            StoreKind::Postgres => {
                let postgres = Postgres::private().await?;
                let database = postgres.fresh_database().await;
                Self { postgres: Some(postgres), broker, database }
            }
            StoreKind::Sqlite => {
                let database = format!("sqlite://{}/torture.db", folder.display());
                Self { postgres: None, broker, database }
            }
        })
    }

    /// Makes known who is to get what is published from the beginning.
    pub(super) async fn introduce(&self, consumer: &str) {
        let Some(server) = &self.broker else { return };
        let broker = actor::broker(&server.url());
        introduce(&*broker, Told::TOPIC, &[consumer, BrokerServer::WITNESS]).await;
        introduce(&*broker, AGAIN, &[BrokerServer::WITNESS]).await;
    }

    pub(super) async fn way(&self) -> Way {
        let mut way = Way { database: self.database.clone(), broker: None, proxies: Vec::new() };
        if let Some(postgres) = &self.postgres {
            let proxy = Proxy::to(postgres.port()).await;
            way.database =
                self.database.replace(&postgres.port().to_string(), &proxy.address().port().to_string());
            way.proxies.push(proxy);
        }
        if let Some(broker) = &self.broker {
            let proxy = match broker {
                BrokerServer::Kafka(kafka) => route(kafka).await,
                other => Proxy::to(other.port()).await,
            };
            let (port, through) = (broker.port().to_string(), proxy.address().port().to_string());
            way.broker = Some(broker.url().replace(&port, &through));
            way.proxies.push(proxy);
        }
        way
    }
}

/// A proxy that the server sends its clients to, by the first route that nobody has.
async fn route(kafka: &Kafka) -> Proxy {
    for _ in 0..ROUTES {
        let route = kafka.next_route();
        if let Ok(proxy) = Proxy::between(route.advertised, route.listener).await {
            return proxy;
        }
    }
    panic!("more than {ROUTES} processes are alive");
}

/// A server of one of the installed versions, as the seed decides.
async fn nats(seed: u64) -> Option<Nats> {
    let installed = Nats::installed();
    let which = usize::try_from(seed).unwrap_or_default().checked_rem(installed.len())?;
    Some(Nats::private_of(&installed[which]).await)
}
