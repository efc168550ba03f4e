//! RabbitMQ: one shared server for each test binary, and private ones for tests that kill it.
//!
//! It is slow to start (a few seconds), and needs a port mapper of Erlang's, of which each server here has its own.

use super::{
    BrokerServer, Process, certificate, find_program, free_port, logged, not_installed, ready, server_dir,
};
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions, QueueDeclareOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// The program itself: the one in `PATH` is a wrapper that becomes another user.
const PROGRAM: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
/// Where the folder of the installed version lies.
const VERSIONS: &str = "/usr/lib/rabbitmq/lib";

/// A private RabbitMQ server, or a virtual host of the shared one.
#[derive(Debug)]
pub struct RabbitMq {
    node: Arc<Node>,
    host: Option<String>,
}

/// A server.
#[derive(Debug)]
struct Node {
    // Declared first, so that the server is gone before its port mapper and its folder.
    process: Mutex<Option<Process>>,
    _mapper: Process,
    dir: TempDir,
    port: u16,
    tls_port: u16,
    distribution_port: u16,
    mapper_port: u16,
    settings: String,
    topics: AtomicU32,
}

impl RabbitMq {
    /// The server that the tests of this binary share; each takes topics of its own ([`fresh_topic`](Self::fresh_topic)).
    ///
    /// `None` is a skip that has been printed.
    pub async fn shared() -> Option<&'static Self> {
        static SHARED: OnceCell<Option<RabbitMq>> = OnceCell::const_new();
        SHARED.get_or_init(|| Self::private_with(Self::MESSAGE_BYTES)).await.as_ref()
    }

    /// A virtual host of the shared server: topics of any name are the caller's own there.
    ///
    /// `None` is a skip that has been printed.
    pub async fn shared_host() -> Option<Self> {
        let shared = Self::shared().await?;
        let host = shared.fresh_topic();
        let add = format!(
            r#"rabbit_vhost:add(<<"{host}">>, <<"tests">>), rabbit_auth_backend_internal:set_permissions(
               <<"guest">>, <<"{host}">>, <<".*">>, <<".*">>, <<".*">>, <<"tests">>)."#
        );
        shared.control(&["eval", &add]).await;
        Some(Self { node: Arc::clone(&shared.node), host: Some(host) })
    }

    /// The largest message that the shared server takes: 2 MiB.
    const MESSAGE_BYTES: &str = "max_message_size = 2097152";

    /// A server of the caller's own, to kill, pause and restart.
    ///
    /// `None` is a skip that has been printed.
    pub async fn private() -> Option<Self> {
        Self::private_with("").await
    }

    /// A server of the caller's own, with more lines in its file of settings.
    ///
    /// `None` is a skip that has been printed.
    pub async fn private_with(settings: &str) -> Option<Self> {
        let Some(mapper) = find_program("epmd").filter(|_| Path::new(PROGRAM).is_file()) else {
            return not_installed("rabbitmq", "rabbitmq-server");
        };
        let (dir, mapper_port) = (server_dir("rabbitmq"), free_port());
        let mut command = logged(&mapper, dir.path());
        command.args(["-port", &mapper_port.to_string(), "-address", "127.0.0.1"]);
        let node = Node {
            process: Mutex::new(None),
            _mapper: Process::spawn(&mut command).expect("epmd can be started"),
            dir,
            port: free_port(),
            tls_port: free_port(),
            distribution_port: free_port(),
            mapper_port,
            settings: settings.to_owned(),
            topics: AtomicU32::new(0),
        };
        let server = Self { node: Arc::new(node), host: None };
        server.restart().await;
        Some(server)
    }

    /// The address of this server.
    #[must_use]
    pub fn url(&self) -> String {
        let path = self.host.as_ref().map(|host| format!("/{host}")).unwrap_or_default();
        format!("amqp://guest:guest@127.0.0.1:{}{path}", self.node.port)
    }

    /// The address of this server for TLS.
    #[must_use]
    pub fn tls_url(&self) -> String {
        format!("amqps://guest:guest@127.0.0.1:{}", self.node.tls_port)
    }

    /// The port on loopback; it stays the same over [`restart`](Self::restart).
    #[must_use]
    pub fn port(&self) -> u16 {
        self.node.port
    }

    /// A topic name that no other test of this server uses.
    #[must_use]
    pub fn fresh_topic(&self) -> String {
        format!("topic-{}", self.node.topics.fetch_add(1, Ordering::Relaxed))
    }

    /// A channel of the test's own, on a connection of its own, with confirms.
    ///
    /// # Errors
    /// The server is down.
    pub async fn connect(&self) -> lapin::Result<(Connection, Channel)> {
        let connection = Connection::connect(&self.url(), ConnectionProperties::default()).await?;
        let channel = connection.create_channel().await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        Ok((connection, channel))
    }

    /// How many messages a queue has that nobody holds.
    pub async fn count_waiting(&self, queue: &str) -> u32 {
        let (_connection, channel) = self.connect().await.expect("the server is running");
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let declared = channel.queue_declare(queue.into(), options, FieldTable::default()).await;
        declared.expect("the queue exists").message_count()
    }

    /// How many messages of a topic with four partitions wait for the witness.
    pub async fn count_messages(&self, topic: &str) -> u64 {
        let mut count = 0;
        for partition in ["0", "1", "2", "3", "any"] {
            let queue = format!("{topic}.{}.{partition}", BrokerServer::WITNESS);
            count += u64::from(self.count_waiting(&queue).await);
        }
        count
    }

    /// Puts a message of somebody else into a partition; the server may be down.
    ///
    /// # Errors
    /// The server did not take it.
    pub async fn put_foreign(&self, topic: &str, partition: u16, payload: &str) -> io::Result<()> {
        let key = format!("{partition}.strange");
        self.put(topic, &key, payload.as_bytes(), BasicProperties::default()).await.map_err(io::Error::other)
    }

    /// Puts any message into an exchange.
    ///
    /// # Errors
    /// The server did not take it.
    pub async fn put(
        &self,
        exchange: &str,
        routing_key: &str,
        body: &[u8],
        properties: BasicProperties,
    ) -> lapin::Result<()> {
        let (_connection, channel) = self.connect().await?;
        let options = BasicPublishOptions::default();
        channel.basic_publish(exchange.into(), routing_key.into(), options, body, properties).await?.await?;
        Ok(())
    }

    /// Runs `rabbitmqctl`, which asks the server over its own protocol.
    pub async fn control(&self, arguments: &[&str]) {
        let versions = std::fs::read_dir(VERSIONS).expect("the server is installed").flatten();
        let program =
            versions.map(|version| version.path().join("sbin/rabbitmqctl")).find(|file| file.is_file());
        let mut command = logged(&program.expect("it comes with the server"), self.node.dir.path());
        self.node.configure(&mut command);
        command.args(arguments);
        let status = tokio::task::spawn_blocking(move || command.status()).await.expect("it does not panic");
        let log = || std::fs::read_to_string(self.node.path("log")).unwrap_or_default();
        assert!(status.is_ok_and(|status| status.success()), "{arguments:?} failed:\n{}", log());
    }

    /// Ends the server by SIGKILL.
    pub fn kill(&self) {
        assert!(self.host.is_none(), "others use the shared server");
        if let Some(mut process) = self.node.process.lock().unwrap().take() {
            process.kill();
        }
    }

    /// Starts the server on the data it had, after killing it if it runs, and waits until it answers.
    pub async fn restart(&self) {
        self.kill();
        // What it says of its start must be of this one.
        let _ = std::fs::remove_file(self.node.path("server.log"));
        *self.node.process.lock().unwrap() = Some(self.node.start());
        ready("rabbitmq", self.node.dir.path(), || async {
            // Its port is open before it has its queues.
            let log = std::fs::read_to_string(self.node.path("server.log")).unwrap_or_default();
            log.contains("Server startup complete")
        })
        .await;
    }

    /// Freezes the server: connections stay open and nothing answers.
    pub fn pause(&self) {
        self.node.process.lock().unwrap().as_ref().expect("the server is running").pause();
    }

    /// Lets a paused server go on.
    pub fn resume(&self) {
        self.node.process.lock().unwrap().as_ref().expect("the server is running").resume();
    }
}

impl Node {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn start(&self) -> Process {
        std::fs::write(self.path("plugins"), "[].").expect("the server's folder is writable");
        std::fs::write(self.path("config.conf"), self.settings()).expect("the server's folder is writable");
        let mut command = logged(Path::new(PROGRAM), self.dir.path());
        self.configure(&mut command);
        Process::spawn(&mut command).expect("rabbitmq-server can be started")
    }

    fn settings(&self) -> String {
        let file = |name| certificate(name).display().to_string();
        let (authority, server, key) = (file("authority.pem"), file("server.pem"), file("server.key"));
        format!(
            "listeners.ssl.1 = 127.0.0.1:{}\nssl_options.cacertfile = {authority}\nssl_options.certfile = {server}\n\
             ssl_options.keyfile = {key}\nssl_options.verify = verify_none\n{}\n",
            self.tls_port, self.settings
        )
    }

    fn configure(&self, command: &mut Command) {
        let files = [
            ("HOME", ""),
            ("RABBITMQ_MNESIA_BASE", "data"),
            ("RABBITMQ_LOG_BASE", "logs"),
            ("RABBITMQ_LOGS", "server.log"),
            ("RABBITMQ_PID_FILE", "pid"),
            ("RABBITMQ_GENERATED_CONFIG_DIR", "generated"),
            ("RABBITMQ_SCHEMA_DIR", "schema"),
            ("RABBITMQ_CONFIG_FILE", "config.conf"),
            ("RABBITMQ_ADVANCED_CONFIG_FILE", "advanced"),
            ("RABBITMQ_FEATURE_FLAGS_FILE", "flags"),
            ("RABBITMQ_QUORUM_DIR", "quorum"),
            ("RABBITMQ_STREAM_DIR", "streams"),
            ("RABBITMQ_ENABLED_PLUGINS_FILE", "plugins"),
        ];
        command.envs(files.map(|(name, file)| (name, self.path(file))));
        let port = self.port;
        let texts = [
            ("RABBITMQ_CONF_ENV_FILE", "/dev/null".to_owned()),
            ("RABBITMQ_NODENAME", format!("r{port}@localhost")),
            ("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1".to_owned()),
            ("RABBITMQ_NODE_PORT", port.to_string()),
            ("RABBITMQ_DIST_PORT", self.distribution_port.to_string()),
            ("ERL_EPMD_PORT", self.mapper_port.to_string()),
            ("ERL_EPMD_ADDRESS", "127.0.0.1".to_owned()),
            // Few schedulers, which sleep at once: several servers run beside each other.
            (
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
                "+S 2:2 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}".to_owned(),
            ),
        ];
        command.envs(texts);
    }
}

/// A quick shutdown ends only the shell that started it, and leaves the machine of Erlang behind.
impl Drop for Node {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.lock().unwrap().take() {
            process.kill();
        }
    }
}
