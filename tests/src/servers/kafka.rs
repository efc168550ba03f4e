//! Apache Kafka, one server that is broker and controller: one shared for each test binary, and private ones for tests that
//! kill it.
//!
//! Its jars are fetched by `cargo xtask test`, see [`Kafka::jars`]. They are those of [`Connect`](super::Connect) too.

use super::{Process, find_program, free_port, logged, not_installed, ready, server_dir};
use rdkafka::{
    ClientConfig, Offset, TopicPartitionList,
    admin::{AdminClient, AdminOptions, NewPartitions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer},
    message::{BorrowedMessage, Headers, Message},
    producer::{FutureProducer, FutureRecord},
};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;

/// The folder of the jars, below the target folder.
const JARS: &str = "servers/kafka-4.3.1-debezium-3.6.1";
/// Any sixteen bytes; a folder that was formatted for one cluster serves no other.
const CLUSTER: &str = "b3V0Ym94LXRlc3RzLTE2Yg";
/// How long a call of a test may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A private Kafka server.
#[derive(Debug)]
pub struct Kafka {
    // Declared first, so that the server is gone before its folder.
    process: Mutex<Option<Process>>,
    dir: TempDir,
    jars: PathBuf,
    ports: Ports,
    settings: Vec<String>,
    next_route: AtomicUsize,
    topics: AtomicU32,
}

#[derive(Debug)]
struct Ports {
    plain: u16,
    guarded: u16,
    controller: u16,
    routes: Vec<Route>,
}

/// A message as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Where.
    pub partition: i32,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// Its headers, of which one may have no value.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    /// Its body.
    pub payload: Vec<u8>,
}

impl Stored {
    fn of(message: &BorrowedMessage<'_>) -> Self {
        let headers = message.headers().into_iter().flat_map(Headers::iter);
        Self {
            partition: message.partition(),
            key: message.key().map(<[u8]>::to_vec),
            headers: headers
                .map(|header| (header.key.to_owned(), header.value.map(<[u8]>::to_vec)))
                .collect(),
            payload: message.payload().unwrap_or_default().to_vec(),
        }
    }

    /// The text of a header that has a value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(found, _)| found == name)?;
        value.as_deref().map(|value| std::str::from_utf8(value).expect("the header is text"))
    }
}

/// A way to the server that leads through whatever listens at `advertised`: a client of Kafka goes where the server tells it to.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// Where the server tells clients to come to.
    pub advertised: u16,
    /// Where the server listens.
    pub listener: u16,
}

impl Kafka {
    /// The folder of the server's jars, where `cargo xtask test` puts them.
    #[must_use]
    pub fn jars() -> Option<PathBuf> {
        let program = std::env::current_exe().ok()?;
        program.ancestors().map(|folder| folder.join(JARS)).find(|jars| jars.is_dir())
    }

    /// Java with the jars in its class path, without a program to run.
    #[must_use]
    pub fn java(jars: &Path) -> Option<Command> {
        let mut command = Command::new(find_program("java")?);
        command.args(["-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.arg("-cp").arg(jars.join("*"));
        Some(command)
    }

    /// The server that the tests of this binary share; each takes topics of its own ([`fresh_topic`](Self::fresh_topic)).
    ///
    /// `None` is a skip that has been printed.
    pub async fn shared() -> Option<&'static Self> {
        static SHARED: OnceCell<Option<Kafka>> = OnceCell::const_new();
        SHARED.get_or_init(Self::private).await.as_ref()
    }

    /// A server of the caller's own, to kill, pause and restart.
    ///
    /// `None` is a skip that has been printed.
    pub async fn private() -> Option<Self> {
        Self::private_with(&[], 0).await
    }

    /// A server of the caller's own with more settings, `name=value`, and that many [routes](Self::next_route).
    ///
    /// `None` is a skip that has been printed.
    pub async fn private_with(settings: &[&str], routes: usize) -> Option<Self> {
        let (Some(jars), Some(_)) = (Self::jars(), find_program("java")) else {
            return not_installed("kafka", "default-jdk-headless maven && cargo xtask test nothing");
        };
        let route = |_| Route { advertised: free_port(), listener: free_port() };
        let server = Self {
            process: Mutex::new(None),
            dir: server_dir("kafka"),
            jars,
            ports: Ports {
                plain: free_port(),
                guarded: free_port(),
                controller: free_port(),
                routes: (0..routes).map(route).collect(),
            },
            settings: settings.iter().map(|&setting| setting.to_owned()).collect(),
            next_route: AtomicUsize::new(0),
            topics: AtomicU32::new(0),
        };
        server.format();
        server.restart().await;
        Some(server)
    }

    /// The address of this server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("kafka://127.0.0.1:{}", self.ports.plain)
    }

    /// The address where the server asks for a password, with the right one.
    #[must_use]
    pub fn guarded_url(&self, password: &str) -> String {
        format!("kafka://ann:{password}@127.0.0.1:{}", self.ports.guarded)
    }

    /// The port on loopback; it stays the same over [`restart`](Self::restart).
    #[must_use]
    pub fn port(&self) -> u16 {
        self.ports.plain
    }

    /// A way to the server for one proxy; used ones come again when all are.
    ///
    /// # Panics
    /// When the server was started without any.
    pub fn next_route(&self) -> Route {
        let routes = &self.ports.routes;
        routes[self.next_route.fetch_add(1, Ordering::Relaxed) % routes.len()]
    }

    /// A topic name that no other test of this server uses.
    #[must_use]
    pub fn fresh_topic(&self) -> String {
        format!("topic-{}", self.topics.fetch_add(1, Ordering::Relaxed))
    }

    /// What a client of the test's own begins with.
    #[must_use]
    pub fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", format!("127.0.0.1:{}", self.ports.plain));
        config.set("message.timeout.ms", "5000").set("topic.metadata.propagation.max.ms", "1000");
        config
    }

    /// Makes a topic as somebody else may, with settings `name`, `value`.
    pub async fn create_topic(&self, topic: &str, partitions: i32, settings: &[(&str, &str)]) {
        let admin: AdminClient<DefaultClientContext> = self.client().create().expect("a client is made");
        let mut new = NewTopic::new(topic, partitions, TopicReplication::Fixed(1));
        for (name, value) in settings {
            new = new.set(name, value);
        }
        let made = admin.create_topics([&new], &patient()).await.expect("the server answers");
        made[0].as_ref().expect("the server makes the topic");
    }

    /// Gives a topic that many partitions, of which it has fewer, and waits until each can be used.
    pub async fn add_partitions(&self, topic: &str, partitions: usize) {
        let admin: AdminClient<DefaultClientContext> = self.client().create().expect("a client is made");
        let new = NewPartitions::new(topic, partitions);
        let made = admin.create_partitions([&new], &patient()).await.expect("the server answers");
        made[0].as_ref().expect("the server adds partitions");
        let (config, topic) = (self.client(), topic.to_owned());
        let wait = move || {
            let client: BaseConsumer = config.create().expect("a client is made");
            let started = Instant::now();
            // A client that has once heard of fewer partitions waits for the others until it asks again.
            let knows_all = || {
                let metadata = client.fetch_metadata(Some(&topic), PATIENCE).expect("the server answers");
                metadata.topics()[0].partitions().len() == partitions
            };
            while !knows_all() {
                assert!(started.elapsed() < PATIENCE, "the partitions are not there in time");
                std::thread::sleep(Duration::from_millis(20));
            }
            for partition in 0..i32::try_from(partitions).expect("a topic has few partitions") {
                borders(&client, &topic, partition);
            }
        };
        tokio::task::spawn_blocking(wait).await.expect("the partitions are there in time");
    }

    /// Removes a topic, and waits until the server knows nothing of it.
    pub async fn delete_topic(&self, topic: &str) {
        let admin: AdminClient<DefaultClientContext> = self.client().create().expect("a client is made");
        let gone = admin.delete_topics(&[topic], &patient()).await.expect("the server answers");
        gone[0].as_ref().expect("the server removes the topic");
        let (config, topic) = (self.client(), topic.to_owned());
        let look = move || {
            let client: BaseConsumer = config.create().expect("a client is made");
            let knows = || {
                let metadata = client.fetch_metadata(None, PATIENCE).expect("the server answers");
                metadata.topics().iter().any(|known| known.name() == topic)
            };
            while knows() {
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        tokio::task::spawn_blocking(look).await.expect("it does not panic");
    }

    /// Removes the messages of a partition that stand before an offset, as retention does.
    pub async fn forget_until(&self, topic: &str, partition: i32, offset: i64) {
        let admin: AdminClient<DefaultClientContext> = self.client().create().expect("a client is made");
        let mut until = TopicPartitionList::new();
        until.add_partition_offset(topic, partition, Offset::Offset(offset)).expect("the offset is positive");
        admin.delete_records(&until, &patient()).await.expect("the server removes them");
    }

    /// The first offset of each partition of a topic, and the one behind its last.
    pub async fn offsets(&self, topic: &str) -> Vec<(i64, i64)> {
        let (config, topic) = (self.client(), topic.to_owned());
        let look = move || -> Vec<(i64, i64)> {
            let client: BaseConsumer = config.create().expect("a client is made");
            let metadata = client.fetch_metadata(Some(&topic), PATIENCE).expect("the server answers");
            let partitions = metadata.topics()[0].partitions().len();
            (0..i32::try_from(partitions).expect("a topic has few partitions"))
                .map(|partition| borders(&client, &topic, partition))
                .collect()
        };
        tokio::task::spawn_blocking(look).await.expect("the look does not panic")
    }

    /// The headers and the body of the first message of a partition, as they are stored.
    pub async fn first_message(&self, topic: &str, partition: i32) -> (BTreeMap<String, String>, Vec<u8>) {
        let (config, topic) = (self.client().set("group.id", "outbox-tests").clone(), topic.to_owned());
        let read = move || {
            let consumer: BaseConsumer = config.create().expect("a client is made");
            let mut first = TopicPartitionList::new();
            first.add_partition_offset(&topic, partition, Offset::Beginning).expect("there is a beginning");
            consumer.assign(&first).expect("the topic has the partition");
            let message = consumer.poll(PATIENCE).expect("a message comes").expect("the server answers");
            let headers = message.headers().expect("the message has headers").iter();
            let text = |value: Option<&[u8]>| String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
            let headers = headers.map(|header| (header.key.to_owned(), text(header.value))).collect();
            (headers, message.payload().unwrap_or_default().to_vec())
        };
        tokio::task::spawn_blocking(read).await.expect("the read does not panic")
    }

    /// Every message that a topic holds now, each partition in its order.
    pub async fn messages(&self, topic: &str) -> Vec<Stored> {
        let (config, name) = (self.client().set("group.id", "outbox-tests").clone(), topic.to_owned());
        let ends = self.offsets(topic).await;
        let read = move || {
            let consumer: BaseConsumer = config.create().expect("a client is made");
            let mut all = TopicPartitionList::new();
            for (partition, (low, _)) in (0..).zip(&ends) {
                let from = Offset::Offset(*low);
                all.add_partition_offset(&name, partition, from).expect("the offset is positive");
            }
            consumer.assign(&all).expect("the topic has these partitions");
            let mut left: i64 = ends.iter().map(|(low, high)| high - low).sum();
            let mut messages = Vec::new();
            while left > 0 {
                let message = consumer.poll(PATIENCE).expect("a message comes").expect("the server answers");
                let partition = usize::try_from(message.partition()).expect("it is positive");
                if message.offset() < ends[partition].1 {
                    messages.push(Stored::of(&message));
                    left -= 1;
                }
            }
            messages
        };
        tokio::task::spawn_blocking(read).await.expect("the read does not panic")
    }

    /// How many messages a topic holds.
    pub async fn count_messages(&self, topic: &str) -> u64 {
        self.offsets(topic).await.into_iter().map(|(low, high)| (high - low).unsigned_abs()).sum()
    }

    /// Puts a message of somebody else into a partition; the server may be down.
    ///
    /// # Errors
    /// The server did not take it.
    pub async fn put_foreign(&self, topic: &str, partition: u16, payload: &str) -> io::Result<()> {
        let producer: FutureProducer = self.client().create().map_err(io::Error::other)?;
        let record = FutureRecord::<(), str>::to(topic).partition(partition.into()).payload(payload);
        producer.send(record, PATIENCE).await.map(|_| ()).map_err(|(error, _)| io::Error::other(error))
    }

    /// Ends the server by SIGKILL.
    pub fn kill(&self) {
        if let Some(mut process) = self.process.lock().unwrap().take() {
            process.kill();
        }
    }

    /// Starts the server on the data it had, after killing it if it runs, and waits until it answers.
    pub async fn restart(&self) {
        self.kill();
        let mut command = self.program("kafka.Kafka");
        command.arg(self.dir.path().join("server.properties"));
        *self.process.lock().unwrap() = Some(Process::spawn(&mut command).expect("java can be started"));
        // It opens the port last.
        let answers = async || TcpStream::connect(("127.0.0.1", self.ports.plain)).await.is_ok();
        ready("kafka", self.dir.path(), answers).await;
    }

    /// Freezes the server: connections stay open and nothing answers.
    pub fn pause(&self) {
        self.process.lock().unwrap().as_ref().expect("the server is running").pause();
    }

    /// Lets a paused server go on.
    pub fn resume(&self) {
        self.process.lock().unwrap().as_ref().expect("the server is running").resume();
    }

    /// Writes the settings, and makes the folder of the data.
    fn format(&self) {
        let dir = self.dir.path();
        let routes = |of: &dyn Fn(usize, &Route) -> String| -> String {
            self.ports.routes.iter().enumerate().map(|(number, route)| of(number, route)).collect()
        };
        let mut settings = include_str!("kafka/server.properties")
            .replace("{plain}", &self.ports.plain.to_string())
            .replace("{guarded}", &self.ports.guarded.to_string())
            .replace("{controller}", &self.ports.controller.to_string())
            .replace("{data}", &dir.join("data").display().to_string())
            .replace("{routes}", &routes(&|n, route| format!(",ROUTE{n}://127.0.0.1:{}", route.listener)))
            .replace(
                "{advertised}",
                &routes(&|n, route| format!(",ROUTE{n}://127.0.0.1:{}", route.advertised)),
            )
            .replace("{protocols}", &routes(&|n, _| format!(",ROUTE{n}:PLAINTEXT")));
        settings.extend(self.settings.iter().map(|setting| format!("{setting}\n")));
        let file = dir.join("server.properties");
        std::fs::write(&file, settings).expect("the server's folder is writable");
        std::fs::write(dir.join("log4j2.properties"), include_str!("kafka/log4j2.properties"))
            .expect("the server's folder is writable");
        let mut format = self.program("kafka.tools.StorageTool");
        format.args(["format", "-t", CLUSTER, "-c"]).arg(file);
        let status = format.status().expect("java can be started");
        assert!(status.success(), "kafka could not format {}: {status}", dir.display());
    }

    /// A program of the jars, which writes into the log of this server's folder.
    fn program(&self, class: &str) -> Command {
        let dir = self.dir.path();
        let java = Self::java(&self.jars).expect("it was there a moment ago");
        let mut command = logged(Path::new(java.get_program()), dir);
        command.args(java.get_args()).arg("-Dlog4j2.configurationFile=file:log4j2.properties").arg(class);
        command
    }
}

/// The first offset of a partition and the one behind its last. A topic that was just made has no leader for a moment.
fn borders(client: &BaseConsumer, topic: &str, partition: i32) -> (i64, i64) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match client.fetch_watermarks(topic, partition, PATIENCE) {
            Ok(borders) => return borders,
            Err(error) => assert!(Instant::now() < deadline, "the server does not answer: {error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn patient() -> AdminOptions {
    AdminOptions::new().operation_timeout(Some(PATIENCE)).request_timeout(Some(PATIENCE))
}
