//! Kafka Connect with Debezium: one worker that runs one connector, for tests that kill it.
//!
//! Its jars are those of [`Kafka`], so where there is a server there is this too.

use super::{Kafka, Process, free_port, logged, server_dir};
use std::path::Path;
use std::sync::Mutex;
use tempfile::TempDir;

/// A private worker.
#[derive(Debug)]
pub struct Connect {
    // Declared first, so that the worker is gone before its folder.
    process: Mutex<Option<Process>>,
    dir: TempDir,
}

impl Connect {
    /// Starts a worker beside that server, with a connector as the text of its file, JSON or properties.
    ///
    /// The connector is under way some seconds later; that is seen at what it does.
    #[must_use]
    pub fn start(kafka: &Kafka, connector: &str) -> Self {
        let dir = server_dir("connect");
        let settings = include_str!("connect/worker.properties")
            .replace("{kafka}", &format!("127.0.0.1:{}", kafka.port()))
            .replace("{port}", &free_port().to_string())
            .replace("{offsets}", &dir.path().join("offsets").display().to_string());
        for (name, text) in [
            ("worker.properties", settings.as_str()),
            ("connector", connector),
            ("log4j2.properties", include_str!("kafka/log4j2.properties")),
        ] {
            std::fs::write(dir.path().join(name), text).expect("the worker's folder is writable");
        }
        let worker = Self { process: Mutex::new(None), dir };
        worker.restart();
        worker
    }

    /// Ends the worker by SIGKILL.
    pub fn kill(&self) {
        if let Some(mut process) = self.process.lock().unwrap().take() {
            process.kill();
        }
    }

    /// Starts the worker with what it had noted, after killing it if it runs.
    pub fn restart(&self) {
        self.kill();
        let jars = Kafka::jars().expect("a server was made, so it is installed");
        let java = Kafka::java(&jars).expect("a server was made, so it is installed");
        let mut command = logged(Path::new(java.get_program()), self.dir.path());
        command.args(java.get_args()).arg("-Dlog4j2.configurationFile=file:log4j2.properties");
        command
            .arg("org.apache.kafka.connect.cli.ConnectStandalone")
            .args(["worker.properties", "connector"]);
        command.env("OUTBOX_DEBEZIUM_PASSWORD", "none is asked for");
        *self.process.lock().unwrap() = Some(Process::spawn(&mut command).expect("java can be started"));
    }

    /// What it has said so far.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Connect {
    /// Java takes its time to end, and it has nothing to keep.
    fn drop(&mut self) {
        self.kill();
    }
}
