//! PostgreSQL: one shared server for each test binary, and private ones for tests that kill it.

use super::{Process, find_program, free_port, logged, not_installed, ready, server_dir};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// What every server runs with. `fsync=off` takes nothing from a test that kills processes: what a killed process
/// wrote is in the kernel's cache and stays there. Only a test of a power cut would need it.
const SETTINGS: [&str; 8] = [
    "listen_addresses=127.0.0.1",
    "wal_level=logical",
    "fsync=off",
    "max_connections=200",
    "max_prepared_transactions=20",
    "shared_buffers=64MB",
    "log_min_messages=warning",
    "log_line_prefix=%m [%p] ",
];

/// A private PostgreSQL server.
#[derive(Debug)]
pub struct Postgres {
    // Declared first, so that the server is gone before its folder.
    process: Mutex<Option<Process>>,
    dir: TempDir,
    port: u16,
    settings: Vec<String>,
    databases: AtomicU32,
}

impl Postgres {
    /// The server that the tests of this binary share; each takes a [`fresh_database`](Self::fresh_database).
    ///
    /// `None` is a skip that has been printed.
    pub async fn shared() -> Option<&'static Self> {
        static SHARED: OnceCell<Option<Postgres>> = OnceCell::const_new();
        SHARED.get_or_init(Self::private).await.as_ref()
    }

    /// A server of the caller's own, to kill, pause and restart.
    ///
    /// `None` is a skip that has been printed.
    pub async fn private() -> Option<Self> {
        Self::private_with(&[]).await
    }

    /// A server of the caller's own with more settings, such as `fsync=on`; the last of a name counts.
    ///
    /// `None` is a skip that has been printed.
    pub async fn private_with(settings: &[&str]) -> Option<Self> {
        let Some(bin) = bin_dir() else { return not_installed("postgres", "postgresql-15") };
        let dir = server_dir("postgres");
        copy_template(bin, &dir);
        let settings = SETTINGS.iter().chain(settings).map(|setting| (*setting).to_owned()).collect();
        let server = Self {
            process: Mutex::new(None),
            dir,
            port: free_port(),
            settings,
            databases: AtomicU32::new(0),
        };
        server.restart().await;
        Some(server)
    }

    /// The address of a database of this server, for the superuser `postgres`.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        self.url_as("postgres", database)
    }

    /// The address of a database of this server, for that role. No role needs a password.
    #[must_use]
    pub fn url_as(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// The port on loopback; it stays the same over [`restart`](Self::restart).
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes an empty database and returns its address.
    pub async fn fresh_database(&self) -> String {
        let name = format!("db_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let mut admin = PgConnection::connect(&self.url("postgres")).await.expect("the server is running");
        let create = AssertSqlSafe(format!("CREATE DATABASE {name}"));
        sqlx::raw_sql(create).execute(&mut admin).await.expect("a database of a new name can be made");
        self.url(&name)
    }

    /// Restores a dump of the database at that address, of this server or another, into a fresh one; gives its address.
    pub async fn restored_from(&self, url: &str) -> String {
        let restored = self.fresh_database().await;
        let bin = bin_dir().expect("a server was made, so it is installed");
        let dump = self.dir.path().join("dump.sql");
        run(Command::new(bin.join("pg_dump")).arg("--file").arg(&dump).arg(url));
        let mut psql = Command::new(bin.join("psql"));
        psql.args(["--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1", "--file"]);
        run(psql.arg(&dump).arg(&restored));
        restored
    }

    /// Ends the server by SIGKILL: all its processes, none of which gets to write anything more.
    pub fn kill(&self) {
        if let Some(mut process) = self.process.lock().unwrap().take() {
            process.kill();
        }
    }

    /// Starts the server on the data it had, after killing it if it runs, and waits until it answers.
    pub async fn restart(&self) {
        self.kill();
        *self.process.lock().unwrap() = Some(self.start());
        let url = self.url("postgres");
        ready("postgres", self.dir.path(), || accepts(&url)).await;
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
        let bin = bin_dir().expect("a server was made, so it is installed");
        let dir = self.dir.path();
        let mut command = as_server_account(&bin.join("postgres"), dir);
        command.arg("-D").arg(dir.join("data"));
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command.arg("-c").arg(format!("port={}", self.port));
        command.arg("-c").arg(format!("unix_socket_directories={}", dir.join("data").display()));
        Process::spawn(&mut command).expect("postgres can be started")
    }
}

async fn accepts(url: &str) -> bool {
    PgConnection::connect(url).await.is_ok()
}

/// The folder of the newest installed server's programs.
fn bin_dir() -> Option<&'static Path> {
    static BIN: std::sync::OnceLock<Option<PathBuf>> = std::sync::OnceLock::new();
    BIN.get_or_init(|| {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let newest = versions
            .filter_map(|folder| {
                Some((folder.file_name().to_str()?.parse::<u32>().ok()?, folder.path().join("bin")))
            })
            .filter(|(_, bin)| bin.join("initdb").is_file() && bin.join("postgres").is_file())
            .max();
        newest.map(|(_, bin)| bin).or_else(|| Some(find_program("initdb")?.parent()?.to_owned()))
    })
    .as_deref()
}

/// A command under an account that PostgreSQL accepts: it refuses root.
///
/// `setpriv` replaces itself by the server, so the child's process id is the server's own.
fn as_server_account(program: &Path, dir: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return logged(program, dir);
    }
    let mut command = logged(Path::new("setpriv"), dir);
    command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", "--"]).arg(program);
    command
}

/// Fills the server's folder with an empty cluster: made by `initdb` once in this process, then copied.
fn copy_template(bin: &Path, dir: &TempDir) {
    static TEMPLATE: Mutex<Option<TempDir>> = Mutex::new(None);
    let mut template = TEMPLATE.lock().unwrap();
    let template = template.get_or_insert_with(|| make_template(bin));
    run(Command::new("cp").arg("-a").arg(template.path().join("data")).arg(dir.path()));
}

fn make_template(bin: &Path) -> TempDir {
    let dir = server_dir("postgres-template");
    if rustix::process::geteuid().is_root() {
        run(Command::new("chown").arg("postgres:").arg(dir.path()));
    }
    let mut initdb = as_server_account(&bin.join("initdb"), dir.path());
    initdb.arg("-D").arg(dir.path().join("data"));
    initdb.args(["-U", "postgres", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8"]);
    let status = initdb.status().expect("initdb can be started");
    let log = std::fs::read_to_string(dir.path().join("log")).unwrap_or_default();
    assert!(status.success(), "initdb failed:\n{log}");
    dir
}

fn run(command: &mut Command) {
    let status = command.status().expect("a program of the base system can be started");
    assert!(status.success(), "{command:?} failed");
}
