//! Redis with an append-only file: one shared server for each test binary, and private ones for tests that kill it.

use super::{Process, certificate, find_program, free_port, logged, not_installed, ready, server_dir};
use redis_client::{Cmd, FromRedisValue, RedisError, aio::MultiplexedConnection};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;

/// A private Redis server.
#[derive(Debug)]
pub struct Redis {
    // Declared first, so that the server is gone before its folder.
    process: Mutex<Option<Process>>,
    dir: TempDir,
    port: u16,
    tls_port: u16,
    options: Vec<String>,
    topics: AtomicU32,
}

impl Redis {
    /// The server that the tests of this binary share; each takes topics of its own ([`fresh_topic`](Self::fresh_topic)).
    ///
    /// `None` is a skip that has been printed.
    pub async fn shared() -> Option<&'static Self> {
        static SHARED: OnceCell<Option<Redis>> = OnceCell::const_new();
        SHARED.get_or_init(Self::private).await.as_ref()
    }

    /// A server of the caller's own, to kill, pause and restart.
    ///
    /// `None` is a skip that has been printed.
    pub async fn private() -> Option<Self> {
        Self::private_with(&[]).await
    }

    /// A server of the caller's own, with more options on its command line; the last of a name counts.
    ///
    /// `None` is a skip that has been printed.
    pub async fn private_with(options: &[&str]) -> Option<Self> {
        if find_program("redis-server").is_none() {
            return not_installed("redis", "redis-server");
        }
        let server = Self {
            process: Mutex::new(None),
            dir: server_dir("redis"),
            port: free_port(),
            tls_port: free_port(),
            options: options.iter().map(|&option| option.to_owned()).collect(),
            topics: AtomicU32::new(0),
        };
        server.restart().await;
        Some(server)
    }

    /// The address of this server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The address of this server for TLS.
    #[must_use]
    pub fn tls_url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.tls_port)
    }

    /// The port on loopback; it stays the same over [`restart`](Self::restart).
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A topic name that no other test of this server uses.
    #[must_use]
    pub fn fresh_topic(&self) -> String {
        format!("topic-{}", self.topics.fetch_add(1, Ordering::Relaxed))
    }

    /// A connection of the test's own.
    ///
    /// # Errors
    /// The server is down, or lets nobody in without a password.
    pub async fn connect(&self) -> Result<MultiplexedConnection, RedisError> {
        redis_client::Client::open(self.url())?.get_multiplexed_async_connection().await
    }

    /// Runs one command and returns its answer.
    pub async fn run<T: FromRedisValue>(&self, command: &Cmd) -> T {
        let mut connection = self.connect().await.expect("the server is running");
        command.query_async(&mut connection).await.expect("the server takes the command")
    }

    /// How many messages a topic holds.
    pub async fn count_messages(&self, topic: &str) -> u64 {
        let mut connection = self.connect().await.expect("the server is running");
        let keys: Vec<String> = redis_client::cmd("KEYS")
            .arg(format!("{topic}:[0-9a]*"))
            .query_async(&mut connection)
            .await
            .expect("the server takes the command");
        let mut count = 0;
        for key in keys {
            count += self.run::<u64>(redis_client::cmd("XLEN").arg(key)).await;
        }
        count
    }

    /// Puts an entry of somebody else into a partition; the server may be down.
    ///
    /// # Errors
    /// The server did not take it.
    pub async fn put_foreign(&self, topic: &str, partition: u16, payload: &str) -> io::Result<()> {
        let mut connection = self.connect().await.map_err(io::Error::other)?;
        let mut add = redis_client::cmd("XADD");
        add.arg(format!("{topic}:{partition}")).arg(&["*", "data", payload]);
        add.exec_async(&mut connection).await.map_err(io::Error::other)
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
        *self.process.lock().unwrap() = Some(self.start());
        ready("redis", self.dir.path(), || answers(self.port)).await;
    }

    /// Freezes the server: connections stay open and nothing answers.
    pub fn pause(&self) {
        self.process.lock().unwrap().as_ref().expect("the server is running").pause();
    }

    /// Lets a paused server go on.
    pub fn resume(&self) {
        self.process.lock().unwrap().as_ref().expect("the server is running").resume();
    }

    fn start(&self) -> Process {
        let dir = self.dir.path();
        let program = find_program("redis-server").expect("it was there a moment ago");
        let mut command = logged(&program, dir);
        command
            .args(["--bind", "127.0.0.1", "--port", &self.port.to_string(), "--save", "", "--dir"])
            .arg(dir);
        command.args(["--appendonly", "yes", "--appendfsync", "always"]);
        command.args(["--tls-port", &self.tls_port.to_string(), "--tls-auth-clients", "no"]);
        command.arg("--tls-cert-file").arg(certificate("server.pem"));
        command.arg("--tls-key-file").arg(certificate("server.key"));
        command.arg("--tls-ca-cert-file").arg(certificate("authority.pem"));
        command.args(&self.options);
        Process::spawn(&mut command).expect("redis-server can be started")
    }
}

/// Whether the server answers, be it that it wants a password; one that is still loading its file does not count.
async fn answers(port: u16) -> bool {
    let Ok(stream) = TcpStream::connect(("127.0.0.1", port)).await else { return false };
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    let _ = stream.write_all(b"PING\r\n").await;
    stream.read_line(&mut line).await.is_ok() && (line.starts_with("+PONG") || line.starts_with("-NOAUTH"))
}
