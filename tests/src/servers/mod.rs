//! Private real servers: each test run starts its own, and none outlives it.
//!
//! Invariants, for every server here:
//! - It listens on a port of its own on loopback and keeps its data in a temporary folder of its own.
//! - It is a direct child in its own process group. `kill` is SIGKILL to all its processes and waits for them, so
//!   that `restart` finds the same data and no leftover.
//! - It ends when this process ends, also by SIGKILL: a watchdog waits for that ([`Process`]).
//! - A server that was already running on the machine is never used.
//!
//! A server that is not installed is a printed skip, or a failure where `OUTBOX_REQUIRE_SERVERS` names it or is
//! `all`. Adding a server is one file beside [`postgres`](Postgres) with the same methods.

mod broker;
mod connect;
mod kafka;
mod nats;
mod postgres;
mod process;
mod rabbitmq;
mod redis;

pub use broker::BrokerServer;
pub use connect::Connect;
pub use kafka::{Kafka, Route, Stored};
pub use nats::Nats;
pub use postgres::Postgres;
pub use process::Process;
pub use rabbitmq::RabbitMq;
pub use redis::Redis;

use futures_util::future::BoxFuture;
use outbox::conformance::broker::Server;
use std::fs::{File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What the conformance suite does to a server, each has methods for.
macro_rules! may_be_broken {
    ($($server:ty)*) => {$(
        impl Server for $server {
            fn kill(&self) {
                self.kill();
            }

            fn restart(&self) -> BoxFuture<'_, ()> {
                Box::pin(self.restart())
            }

            fn pause(&self) {
                self.pause();
            }

            fn resume(&self) {
                self.resume();
            }
        }
    )*};
}

may_be_broken! { Kafka Nats RabbitMq }

/// How long a server may take until it answers; generous, since CI machines run several at once.
const READY_PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `probe` answers true; panics with the server's log when that takes too long.
async fn ready<F: Future<Output = bool>>(server: &str, dir: &Path, probe: impl Fn() -> F) {
    let deadline = Instant::now() + READY_PATIENCE;
    while !probe().await {
        assert!(
            Instant::now() < deadline,
            "{server} in {} did not get ready in {READY_PATIENCE:?}; its log:\n{}",
            dir.display(),
            std::fs::read_to_string(dir.join("log")).unwrap_or_default()
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A file of the certificates that the tests' servers show: `authority.pem`, which vouches for `server.pem` and
/// `server.key` on loopback, for a hundred years.
#[must_use]
pub fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/servers/tls").join(name)
}

/// A command whose output goes to the file `log` in `dir`, at its end.
fn logged(program: &Path, dir: &Path) -> Command {
    let log = File::options()
        .create(true)
        .append(true)
        .open(dir.join("log"))
        .expect("the server's folder is writable");
    let mut command = Command::new(program);
    command.current_dir(dir).stdin(Stdio::null());
    command.stdout(log.try_clone().expect("a file handle can be cloned")).stderr(log);
    command
}

/// A temporary folder that servers running under another account can reach.
///
/// All are in one folder of this process, which goes when the process ends; a server's own goes with the server.
fn server_dir(server: &str) -> TempDir {
    // A server that is being killed may still write for a moment, hence the second and third try.
    const REMOVE: &str = r#"for _ in 1 2 3; do rm -rf -- "$1" && exit; sleep 1; done"#;
    static ROOT: LazyLock<(PathBuf, Child)> = LazyLock::new(|| {
        let root = temp_dir("outbox-tests-", &std::env::temp_dir()).keep();
        let remover = process::at_exit(REMOVE, root.as_os_str()).expect("a shell can be started");
        (root, remover)
    });
    temp_dir(&format!("{server}-"), &ROOT.0)
}

fn temp_dir(prefix: &str, parent: &Path) -> TempDir {
    let permissions = Permissions::from_mode(0o755);
    let made = tempfile::Builder::new().prefix(prefix).permissions(permissions).tempdir_in(parent);
    made.expect("the temporary folder is writable")
}

/// A port on loopback that was free a moment ago.
///
/// It lies below the range from which the kernel takes the ports of outgoing connections, so that nobody takes it
/// while a killed server is down.
fn free_port() -> u16 {
    const FIRST: u16 = 15_000;
    const COUNT: u16 = 15_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Each process begins elsewhere, so that two test binaries at once rarely try the same port.
    let start = (std::process::id() * 97 % u32::from(COUNT)) as u16;
    for _ in 0..COUNT {
        let offset = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + (start.wrapping_add(offset)) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no free port between {FIRST} and {}", FIRST + COUNT);
}

/// The skip of a test whose server is not installed; a failure where the server is required.
fn not_installed<T>(server: &str, package: &str) -> Option<T> {
    let install = format!("apt-get install -y --no-install-recommends {package}");
    let required = std::env::var("OUTBOX_REQUIRE_SERVERS").unwrap_or_default();
    let is_required = required.split(',').any(|name| name == "all" || name == server);
    assert!(!is_required, "{server} is required and not installed; install it: {install}");
    eprintln!("SKIPPED: {server} is not installed; install it: {install}");
    None
}

/// The file of that name in the folders of `PATH` and in those that Debian keeps for administrators.
fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin"), PathBuf::from("/usr/local/sbin")])
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
