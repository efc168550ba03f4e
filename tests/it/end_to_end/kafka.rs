//! The same on Kafka, which drops no second copy and keeps one position for each partition.

use super::Scene;
use super::copies::on_each_store_where_copies_stay;
use outbox_tests::servers::{BrokerServer, Kafka};
use outbox_tests::world::TestStore;

on_each_store_where_copies_stay! {}

async fn scene<S: TestStore>() -> Option<Scene<S>> {
    Scene::start_on(server().await?).await
}

async fn server() -> Option<BrokerServer> {
    Kafka::private().await.map(BrokerServer::Kafka)
}
