//! NATS with JetStream: one shared server for each test binary, and private ones for tests that kill it.
//!
//! Debian's 2.9 ignores in silence what later versions added, so what must work on both is tested on both: see
//! [`Nats::installed`].

use super::{Process, find_program, free_port, logged, not_installed, ready, server_dir};
use base64::{Engine, prelude::BASE64_STANDARD};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;

/// How long a durable's file stands still when the server has stored all: it does so every 100 ms or so.
const STORED_AFTER: Duration = Duration::from_millis(500);

/// A private NATS server with JetStream.
#[derive(Debug)]
pub struct Nats {
    // Declared first, so that the server is gone before its folder.
    process: Mutex<Option<Process>>,
    dir: TempDir,
    port: u16,
    program: PathBuf,
    options: Vec<String>,
    topics: AtomicU32,
}

impl Nats {
    /// The options of a server that lets in only `ann` with the password `s3cret`.
    pub const GUARDED: [&str; 4] = ["--user", "ann", "--pass", "s3cret"];

    /// Every installed server program: those named in `OUTBOX_NATS_SERVERS` (joined by colons), else that of `PATH`.
    ///
    /// None is a skip that has been printed.
    #[must_use]
    pub fn installed() -> Vec<PathBuf> {
        let programs: Vec<_> = match std::env::var_os("OUTBOX_NATS_SERVERS") {
            Some(programs) => std::env::split_paths(&programs).filter(|program| program.is_file()).collect(),
            None => find_program("nats-server").into_iter().collect(),
        };
        if programs.is_empty() {
            not_installed::<()>("nats", "nats-server");
        }
        programs
    }

    /// The server that the tests of this binary share; each takes topics of its own ([`fresh_topic`](Self::fresh_topic)).
    ///
    /// `None` is a skip that has been printed.
    pub async fn shared() -> Option<&'static Self> {
        static SHARED: OnceCell<Option<Nats>> = OnceCell::const_new();
        SHARED.get_or_init(Self::private).await.as_ref()
    }

    /// A server of the caller's own, to kill, pause and restart.
    ///
    /// `None` is a skip that has been printed.
    pub async fn private() -> Option<Self> {
        Some(Self::private_of(Self::installed().first()?).await)
    }

    /// A server of the caller's own, of one of the [`installed`](Self::installed) programs.
    pub async fn private_of(program: &Path) -> Self {
        Self::private_with(program, &[]).await
    }

    /// As [`private_of`](Self::private_of), with more options on its command line.
    pub async fn private_with(program: &Path, options: &[&str]) -> Self {
        let server = Self {
            process: Mutex::new(None),
            dir: server_dir("nats"),
            port: free_port(),
            program: program.to_owned(),
            options: options.iter().map(|&option| option.to_owned()).collect(),
            topics: AtomicU32::new(0),
        };
        server.restart().await;
        server
    }

    /// The address of this server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
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

    /// Publishes a message as anybody may, whose headers are those bytes: `name: value` lines that end in CR and LF.
    ///
    /// Returns when the server has taken it.
    pub async fn publish_raw(&self, subject: &str, headers: &[u8], payload: &[u8]) {
        self.try_publish_raw(subject, headers, payload).await.expect("the server takes the message");
    }

    /// As [`publish_raw`](Self::publish_raw), to a server that may be down.
    ///
    /// # Errors
    /// The connection failed, or the server refused the message.
    pub async fn try_publish_raw(&self, subject: &str, headers: &[u8], payload: &[u8]) -> io::Result<()> {
        let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", self.port)).await?);
        let block = [b"NATS/1.0\r\n", headers, b"\r\n"].concat();
        let publish = format!("HPUB {subject} {} {}\r\n", block.len(), block.len() + payload.len());
        let connect = br#"CONNECT {"verbose":false,"headers":true}"#;
        let all = [connect, &b"\r\n"[..], publish.as_bytes(), &block, payload, b"\r\nPING\r\n"].concat();
        stream.write_all(&all).await?;
        let mut line = String::new();
        while line != "PONG\r\n" {
            line.clear();
            let read = stream.read_line(&mut line).await?;
            if read == 0 || line.starts_with("-ERR") {
                return Err(io::Error::other(line));
            }
        }
        Ok(())
    }

    /// Takes that many deliveries of a durable, as a client whose connection is lost before it acks any.
    pub async fn take_raw(&self, topic: &str, durable: &str, count: usize) {
        let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", self.port)).await.unwrap());
        let request = format!(r#"{{"batch":{count},"expires":5000000000}}"#);
        let connect = r#"CONNECT {"verbose":false,"headers":true}"#;
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{topic}.{durable}");
        let publish = format!("PUB {subject} taken {}\r\n{request}", request.len());
        let all = format!("{connect}\r\nSUB taken 1\r\n{publish}\r\n");
        stream.write_all(all.as_bytes()).await.unwrap();
        let mut taken = 0;
        while taken < count {
            let mut line = Vec::new();
            let read = stream.read_until(b'\n', &mut line).await.unwrap();
            assert!(read > 0 && !line.starts_with(b"-ERR"), "the server refused the request");
            taken += usize::from(line.starts_with(b"HMSG "));
        }
    }

    /// Acks the message at that place of the stream, delivered first of all or in the order of the stream, as the process
    /// does that has it.
    pub async fn ack_raw(&self, topic: &str, durable: &str, place: u64) {
        self.publish_raw(&format!("$JS.ACK.{topic}.{durable}.1.{place}.{place}.0.0"), b"", b"+ACK").await;
    }

    /// Gives that message back for a while, which the server counts from the end of the ack wait on.
    pub async fn nack_raw(&self, topic: &str, durable: &str, place: u64, delay: Duration) {
        let nack = format!(r#"-NAK {{"delay": {}}}"#, delay.as_nanos());
        let subject = format!("$JS.ACK.{topic}.{durable}.1.{place}.{place}.0.0");
        self.publish_raw(&subject, b"", nack.as_bytes()).await;
    }

    /// Removes the message at that place of the stream.
    pub async fn delete_raw(&self, topic: &str, place: u64) {
        let deleted = self.ask(&format!("STREAM.MSG.DELETE.{topic}"), &format!(r#"{{"seq":{place}}}"#)).await;
        assert_eq!(deleted["success"], true, "{deleted}");
    }

    /// What the server has stored of a durable. Restarts the server, and fails if it then waits for any other number of
    /// acks.
    pub async fn stored_durable(&self, topic: &str, durable: &str, awaited: u64) -> Vec<u8> {
        let file = self.durable_file(topic, durable);
        let read = || std::fs::read(&file).unwrap_or_default();
        let (mut last, mut since) = (read(), Instant::now());
        while last.is_empty() || since.elapsed() < STORED_AFTER {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let now = read();
            if now != last {
                (last, since) = (now, Instant::now());
            }
        }
        self.restart().await;
        let info = self.ask(&format!("CONSUMER.INFO.{topic}.{durable}"), "").await;
        assert_eq!(info["num_ack_pending"], awaited, "{info}");
        last
    }

    /// Kills the server and starts it as if it had stored no more of the durable than that.
    pub async fn restart_with_durable(&self, topic: &str, durable: &str, stored: &[u8]) {
        self.kill();
        std::fs::write(self.durable_file(topic, durable), stored).unwrap();
        self.restart().await;
    }

    fn durable_file(&self, topic: &str, durable: &str) -> PathBuf {
        self.dir.path().join(format!("js/jetstream/$G/streams/{topic}/obs/{durable}/o.dat"))
    }

    /// How many messages a topic holds.
    pub async fn count_messages(&self, topic: &str) -> u64 {
        let info = self.ask(&format!("STREAM.INFO.{topic}"), "").await;
        info["state"]["messages"].as_u64().expect("the topic exists")
    }

    /// The headers and the body of the first message of a topic, as it is stored.
    pub async fn first_message(&self, topic: &str) -> (BTreeMap<String, String>, Vec<u8>) {
        let stored = self.ask(&format!("STREAM.MSG.GET.{topic}"), r#"{"seq":1}"#).await;
        let part = |name: &str| {
            let text = stored["message"][name].as_str().expect("the topic has a message");
            BASE64_STANDARD.decode(text).expect("the server writes base64")
        };
        let headers = String::from_utf8(part("hdrs")).expect("the headers are UTF-8");
        let headers = headers.lines().filter_map(|line| line.split_once(": "));
        (headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(), part("data"))
    }

    /// Makes a stream as somebody else may, with that configuration.
    pub async fn create_stream(&self, topic: &str, config: &str) {
        let answer = self.ask(&format!("STREAM.CREATE.{topic}"), config).await;
        assert!(answer["error"].is_null(), "{answer}");
    }

    /// Makes a durable as somebody else may, with these settings beside those that it needs.
    pub async fn create_durable(&self, topic: &str, durable: &str, settings: &str) {
        let (_, partition) = durable.rsplit_once('-').expect("a durable is of a partition");
        let config = format!(
            r#"{{"stream_name":"{topic}","config":{{"durable_name":"{durable}","ack_policy":"explicit","deliver_policy":"all","filter_subject":"{topic}.{partition}.>",{settings}}}}}"#
        );
        let answer = self.ask(&format!("CONSUMER.DURABLE.CREATE.{topic}.{durable}"), &config).await;
        assert!(answer["error"].is_null(), "{answer}");
    }

    /// What the server says of the stream of a topic.
    pub async fn stream(&self, topic: &str) -> serde_json::Value {
        self.ask(&format!("STREAM.INFO.{topic}"), "").await
    }

    /// Removes a topic with all its messages.
    pub async fn remove_topic(&self, topic: &str) {
        let answer = self.ask(&format!("STREAM.DELETE.{topic}"), "").await;
        assert_eq!(answer["success"], true, "{answer}");
    }

    /// Removes the durables of a topic whose names begin so, and says how many those were.
    pub async fn remove_durables(&self, topic: &str, prefix: &str) -> usize {
        let names = self.ask(&format!("CONSUMER.NAMES.{topic}"), "").await;
        let names = names["consumers"].as_array().cloned().unwrap_or_default();
        let names = names.iter().filter_map(|name| name.as_str()).filter(|name| name.starts_with(prefix));
        let mut removed = 0;
        for name in names {
            let answer = self.ask(&format!("CONSUMER.DELETE.{topic}.{name}"), "").await;
            assert_eq!(answer["success"], true, "{answer}");
            removed += 1;
        }
        removed
    }

    /// Kills the server and starts it without the data it had.
    pub async fn restart_empty(&self) {
        self.kill();
        std::fs::remove_dir_all(self.dir.path().join("js")).expect("the server has data");
        self.restart().await;
    }

    /// One request to the JetStream API, as whom [`GUARDED`](Self::GUARDED) lets in.
    async fn ask(&self, subject: &str, body: &str) -> serde_json::Value {
        let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", self.port)).await.unwrap());
        let connect = r#"CONNECT {"verbose":false,"user":"ann","pass":"s3cret"}"#;
        let publish = format!("PUB $JS.API.{subject} answer {}\r\n{body}", body.len());
        let all = format!("{connect}\r\nSUB answer 1\r\n{publish}\r\n");
        stream.write_all(all.as_bytes()).await.unwrap();
        let mut line = String::new();
        while !line.starts_with("MSG ") {
            line.clear();
            assert!(stream.read_line(&mut line).await.unwrap() > 0, "the server closed the connection");
        }
        line.clear();
        stream.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
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
        ready("nats", self.dir.path(), || greets(self.port)).await;
    }

    /// Lets the server read its file of settings again.
    pub fn reload(&self) {
        self.process.lock().unwrap().as_ref().expect("the server is running").reload();
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
        let mut command = logged(&self.program, dir);
        command.args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-js", "-sd"]).arg(dir.join("js"));
        command.args(&self.options);
        Process::spawn(&mut command).expect("nats-server can be started")
    }
}

/// Whether a NATS server speaks first, as the protocol demands; the port alone opens earlier.
async fn greets(port: u16) -> bool {
    let Ok(stream) = TcpStream::connect(("127.0.0.1", port)).await else { return false };
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await.is_ok() && line.starts_with("INFO ")
}
