//! The same on Redis, which drops no second copy and gives a crashed member's entries to nobody by itself.

use super::Scene;
use super::copies::on_each_store_where_copies_stay;
use outbox_tests::servers::{BrokerServer, Redis};
use outbox_tests::world::TestStore;

on_each_store_where_copies_stay! {}

async fn scene<S: TestStore>() -> Option<Scene<S>> {
    Scene::start_on(server().await?).await
}

async fn server() -> Option<BrokerServer> {
    Redis::private().await.map(BrokerServer::Redis)
}
