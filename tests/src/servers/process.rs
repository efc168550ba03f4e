//! A child process that can be killed whole, paused and resumed, and that never outlives this process.
//!
//! SIGKILL of a process group is not enough: PostgreSQL's backends each lead a group of their own. So the tree of
//! processes is read from `/proc`, stopped, and then killed; a kill returns when every one of them is gone.
//!
//! The parent-death signal of Linux is no use here: it follows the *thread* that started the child, and a test's thread
//! ends long before a shared server should. Instead a small shell waits on a pipe that only this process holds open.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What the watchdog of a process runs: $1 is the process group. A killed PostgreSQL leaves a segment of shared memory
/// behind, of which a machine has a few thousand; hence the quick shutdown first.
const END_GROUP: &str = r#"
kill -CONT -"$1"; kill -QUIT -"$1"
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 -"$1" || exit; sleep 0.2; done
kill -9 $(cat /proc/"$1"/task/*/children) -"$1"
"#;

/// How long a process may take for its quick shutdown.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// A child process in a group of its own, with all its descendants.
///
/// Dropping it ends it, by SIGQUIT if that helps at once and by SIGKILL else.
#[derive(Debug)]
pub struct Process {
    child: Child,
    watchdog: Child,
    status: Option<ExitStatus>,
}

impl Process {
    /// Starts `command`. If this process ends first, however it ends, the child is killed.
    ///
    /// # Errors
    /// The program could not be started.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        let watchdog = at_exit(END_GROUP, child.id().to_string().as_ref())?;
        Ok(Self { child, watchdog, status: None })
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process has not ended yet.
    #[must_use]
    pub fn is_running(&mut self) -> bool {
        self.end().is_none()
    }

    /// How the process ended; `None` while it runs.
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().expect("a child can be waited for");
        }
        self.status
    }

    /// Asks the process to end (SIGTERM).
    pub fn terminate(&mut self) {
        // Once it is reaped, its number may belong to somebody else.
        if self.is_running() {
            send(self.child.id(), Signal::TERM);
        }
    }

    /// Asks the process to read its settings again (SIGHUP).
    pub fn reload(&self) {
        send(self.child.id(), Signal::HUP);
    }

    /// Ends the process and its descendants by SIGKILL and waits until all of them are gone.
    pub fn kill(&mut self) {
        if self.is_running() {
            let tree = self.stop_tree();
            for process in &tree {
                send(process.pid, Signal::KILL);
            }
            // Processes whose parent had ended before are no descendants any more, yet still of the group.
            let _ = kill_process_group(pid_of(self.child.id()), Signal::KILL);
            self.status = Some(self.child.wait().expect("a child can be waited for"));
            wait_until_gone(&tree);
        }
        // After the reaping, and at once: from here on the group's number may belong to somebody else.
        let _ = self.watchdog.kill();
        let _ = self.watchdog.wait();
    }

    /// Freezes the process and its descendants (SIGSTOP), and waits until they stand still: on a busy machine a thread may
    /// go on for a moment.
    pub fn pause(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        for process in self.stop_tree() {
            while !is_stopped(process.pid) {
                assert!(Instant::now() < deadline, "process {} goes on after SIGSTOP", process.pid);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Lets a paused process go on (SIGCONT).
    pub fn resume(&self) {
        for process in descendants(self.child.id()) {
            send(process.pid, Signal::CONT);
        }
        send(self.child.id(), Signal::CONT);
    }

    /// Stops every process of the tree, again and again until no new one appeared meanwhile.
    fn stop_tree(&self) -> HashSet<Entry> {
        send(self.child.id(), Signal::STOP);
        let mut stopped = HashSet::new();
        loop {
            let tree: HashSet<Entry> = descendants(self.child.id()).into_iter().collect();
            let fresh: Vec<_> = tree.difference(&stopped).copied().collect();
            if fresh.is_empty() {
                stopped.extend(entry_of(self.child.id()));
                return stopped;
            }
            for process in fresh {
                send(process.pid, Signal::STOP);
                stopped.insert(process);
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_running() {
            return self.kill();
        }
        self.resume();
        send(self.child.id(), Signal::QUIT);
        let deadline = Instant::now() + END_PATIENCE;
        while self.is_running() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.kill();
    }
}

/// Has a shell run `script`, with `argument` as $1, when this process ends, also by SIGKILL: then its end of the pipe
/// closes. Killing the returned child calls it off.
pub(super) fn at_exit(script: &str, argument: &OsStr) -> io::Result<Child> {
    Command::new("sh")
        .args(["-c", &format!("read -r _\n{script}"), "sh"])
        .arg(argument)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// One process; its start time tells it from a later one of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Entry {
    pid: u32,
    started: u64,
}

fn descendants(root: u32) -> Vec<Entry> {
    let mut children: HashMap<u32, Vec<Entry>> = HashMap::new();
    for folder in std::fs::read_dir("/proc").expect("procfs is mounted").flatten() {
        let Some(pid) = folder.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some((_, parent, entry)) = read_stat(pid) {
            children.entry(parent).or_default().push(entry);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for entry in children.remove(&pid).unwrap_or_default() {
            open.push(entry.pid);
            found.push(entry);
        }
    }
    found
}

fn entry_of(pid: u32) -> Option<Entry> {
    read_stat(pid).map(|(_, _, entry)| entry)
}

/// State, parent and identity of a process; `None` when it is gone.
fn read_stat(pid: u32) -> Option<(char, u32, Entry)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses, which may itself hold spaces and parentheses.
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let started = fields.get(19)?.parse().ok()?;
    Some((fields.first()?.chars().next()?, fields.get(1)?.parse().ok()?, Entry { pid, started }))
}

/// Whether no thread of a process runs; also when it is gone.
fn is_stopped(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    threads.flatten().all(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = stat.rfind(')').and_then(|end| stat[end + 1..].trim_start().chars().next());
        matches!(state, None | Some('T' | 't' | 'X' | 'Z'))
    })
}

/// Whether threads of a process are left beside its first.
fn has_other_threads(pid: u32) -> bool {
    std::fs::read_dir(format!("/proc/{pid}/task")).is_ok_and(|threads| threads.count() > 1)
}

fn wait_until_gone(tree: &HashSet<Entry>) {
    let deadline = Instant::now() + Duration::from_secs(20);
    for process in tree {
        // A zombie is gone too, once its other threads are: then it holds no file, and whoever adopted it may never reap it.
        let holds_files = |state| state != 'Z' || has_other_threads(process.pid);
        while read_stat(process.pid).is_some_and(|(state, _, entry)| entry == *process && holds_files(state))
        {
            assert!(Instant::now() < deadline, "process {} survived SIGKILL", process.pid);
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn pid_of(id: u32) -> Pid {
    i32::try_from(id).ok().and_then(Pid::from_raw).expect("a process id is a positive i32")
}

/// Sends a signal to a process that may have ended meanwhile.
fn send(id: u32, signal: Signal) {
    let _ = kill_process(pid_of(id), signal);
}
