//! The program `outbox relay`, started by a test.

use super::until;
use outbox_tests::servers::Process;
use std::{
    fs::File,
    io::{Read, Seek},
    process::Command,
};

/// A relay that runs no longer than its test, however that ends.
pub(super) struct Relay {
    process: Process,
    stdout: File,
    stderr: File,
}

impl Relay {
    pub(super) fn start(mut command: Command) -> Self {
        // Files: nobody reads while it runs, and a pipe that is full would stop it.
        let [stdout, stderr] = [(); 2].map(|()| tempfile::tempfile().unwrap());
        command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
        Self { process: Process::spawn(&mut command).unwrap(), stdout, stderr }
    }

    /// What it has logged so far.
    pub(super) fn logged(&mut self) -> String {
        read(&mut self.stderr)
    }

    /// Asks it to stop, as a supervisor does; gives what it answered.
    pub(super) async fn stopped(mut self) -> String {
        self.process.terminate();
        until(async || self.process.end().is_some()).await;
        let code = self.process.end().and_then(|status| status.code());
        assert_eq!(code, Some(0), "{}", read(&mut self.stderr));
        read(&mut self.stdout)
    }
}

fn read(file: &mut File) -> String {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}
