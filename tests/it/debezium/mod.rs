//! Debezium reads the very same log: what it publishes is what a relay to Kafka publishes, and one may take over from the other.

mod killed;
mod same;
mod switched;
mod writer;

use outbox::postgres::PostgresStore;
use outbox_tests::programs;
use outbox_tests::servers::{Connect, Kafka, Postgres};
use outbox_tests::world::World;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The partitions that the brokers of a world are configured with.
const PARTITIONS: &str = "4";

/// A world on servers of its own.
struct Scene {
    world: World<PostgresStore>,
    postgres: Postgres,
    kafka: Kafka,
}

/// What `outbox debezium-config` prints.
struct Printed {
    publication: String,
    connector: String,
    slot: String,
}

impl Scene {
    /// `None` is a skip that has been printed.
    async fn start() -> Option<Self> {
        // Nobody kills Kafka here; so a machine that is busy for a second must not have it fenced.
        let kafka = Kafka::private_with(&["broker.session.timeout.ms=18000"], 0).await?;
        let postgres = Postgres::private().await?;
        let world = World::<PostgresStore>::at(&postgres.fresh_database().await).await;
        let scene = Self { world, postgres, kafka };
        // All that it may do beside what the printed statements grant.
        scene.run("CREATE ROLE debezium LOGIN REPLICATION").await;
        Some(scene)
    }

    /// Runs statements as the owner of the tables.
    async fn run(&self, script: &str) {
        let script = sqlx::AssertSqlSafe(script.to_owned());
        sqlx::raw_sql(script).execute(self.world.outbox.store().pool()).await.unwrap();
    }

    /// What the command prints for this database now.
    fn print(&self) -> Printed {
        let mut command = programs::outbox();
        command.args(["debezium-config", "--json", "--partitions", PARTITIONS]);
        let output = command.env("OUTBOX_DATABASE_URL", &self.world.url).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        Printed {
            publication: answer["publication"].as_str().unwrap().to_owned(),
            connector: answer["connector"].to_string(),
            slot: answer["connector"]["config"]["slot.name"].as_str().unwrap().to_owned(),
        }
    }

    /// Makes the publication and starts the connector.
    async fn connect(&self) -> (Connect, Printed) {
        let printed = self.print();
        self.run(&printed.publication).await;
        let connect = Connect::start(&self.kafka, &printed.connector);
        self.streams(&connect, &printed).await;
        (connect, printed)
    }

    /// Waits until the connector reads what is committed.
    async fn streams(&self, connect: &Connect, printed: &Printed) {
        let is_active = "SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active)";
        until(connect, "the connector reads", async || {
            let asked = sqlx::query_scalar::<_, bool>(is_active).bind(&printed.slot);
            asked.fetch_one(self.world.outbox.store().pool()).await.unwrap()
        })
        .await;
    }

    /// Waits until the topic of the world holds that many messages, copies included.
    async fn published(&self, connect: &Connect, count: u64) {
        until(connect, "it is published", async || self.kafka.count_messages("world").await >= count).await;
    }
}

/// Waits until `is_true`; fails the test with the connector's words when that takes too long.
async fn until(connect: &Connect, what: &str, mut is_true: impl AsyncFnMut() -> bool) {
    const PATIENCE: Duration = Duration::from_secs(60);
    let deadline = Instant::now() + PATIENCE;
    while !is_true().await {
        let log = || connect.log();
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} in vain until {what}:\n{}", log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
