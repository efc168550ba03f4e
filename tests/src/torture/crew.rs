//! The processes: how many of each there are to be, and what ended those that are no more.
//!
//! ```text
//!            spawn            SIGKILL, or a payload kills it
//!  (wanted) ──────▶ running ─────────────────────────────────▶ gone, another is spawned
//!                    │  ▲
//!            SIGSTOP ▼  │ SIGCONT
//!                   paused
//!                    running, one too many ── SIGTERM ──▶ leaving ──▶ gone
//! ```

use super::Options;
use super::actor::{Orders, Role};
use super::figures::Figures;
use super::ground::{Ground, Way};
use crate::servers::Process;
use rand::RngExt;
use rand::rngs::StdRng;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a process may take to end after SIGTERM: what is in flight may take its limit.
const LEAVE_MAX: Duration = Duration::from_secs(20);

/// One process.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) role: Role,
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) way: Way,
    process: Process,
    is_paused: bool,
    /// By us.
    is_killed: bool,
    leaving_since: Option<Instant>,
}

/// All processes.
#[derive(Debug)]
pub(super) struct Crew {
    members: Vec<Member>,
    wanted: BTreeMap<Role, usize>,
    spawned: u64,
    options: Options,
    folder: PathBuf,
    /// How processes ended that should not have.
    pub(super) problems: Vec<String>,
}

impl Crew {
    pub(super) fn new(options: Options, folder: PathBuf) -> Self {
        let (members, wanted, problems) = Default::default();
        Self { members, wanted, spawned: 0, options, folder, problems }
    }

    pub(super) fn want(&mut self, role: Role, count: usize) {
        self.wanted.insert(role, count);
    }

    pub(super) fn wanted(&self, role: Role) -> usize {
        self.wanted.get(&role).copied().unwrap_or(0)
    }

    /// Any process that is neither paused nor leaving.
    pub(super) fn any(&mut self, chance: &mut StdRng) -> Option<&mut Member> {
        let mut able: Vec<_> = self
            .members
            .iter_mut()
            .filter(|member| !member.is_paused && member.leaving_since.is_none())
            .collect();
        if able.is_empty() {
            return None;
        }
        Some(able.swap_remove(chance.random_range(0..able.len())))
    }

    pub(super) fn get(&mut self, number: u64) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.number == number)
    }

    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Member> {
        self.members.iter_mut()
    }

    pub(super) fn count(&self, role: Role) -> usize {
        self.members.iter().filter(|member| member.role == role).count()
    }

    /// Buries who is dead, sends away who is too many, and spawns who is missing.
    pub(super) async fn tend(&mut self, ground: &Ground, figures: &Figures) {
        for mut member in std::mem::take(&mut self.members) {
            match member.process.end() {
                None => self.members.push(member),
                Some(status) => self.bury(&member, status, figures),
            }
        }
        for (role, wanted) in self.wanted.clone() {
            let staying = |member: &&mut Member| member.role == role && member.leaving_since.is_none();
            let count = self.members.iter_mut().filter(staying).count();
            for member in self.members.iter_mut().filter(staying).skip(wanted) {
                member.send_away();
                figures.add("processes sent away", 1);
            }
            for _ in count..wanted {
                self.spawn(role, ground).await;
                figures.add("processes started", 1);
            }
        }
        for member in &mut self.members {
            if member.leaving_since.is_some_and(|since| since.elapsed() > LEAVE_MAX) {
                self.problems.push(format!("{} did not end {LEAVE_MAX:?} after SIGTERM", member.name));
                member.kill();
            }
        }
    }

    fn bury(&mut self, member: &Member, status: ExitStatus, figures: &Figures) {
        let was_killed = status.signal() == Some(Signal::KILL.as_raw());
        if was_killed && !member.is_killed {
            figures.add("processes killed by a payload", 1);
        }
        // One that has just been started may be sent away before it listens for that.
        let is_asked = status.success() || status.signal() == Some(Signal::TERM.as_raw());
        let has_left = is_asked && member.leaving_since.is_some();
        if !was_killed && !has_left {
            self.problems.push(format!("{} ended by itself: {status}", member.name));
        }
    }

    async fn spawn(&mut self, role: Role, ground: &Ground) {
        self.spawned += 1;
        let way = ground.way().await;
        let orders = Orders {
            role,
            number: self.spawned,
            store: self.options.store,
            database: way.database.clone(),
            broker: way.broker.clone(),
            folder: self.folder.clone(),
            seed: self.options.seed,
            plant: self.options.plant,
        };
        let name = orders.name();
        let log = File::create(self.folder.join(format!("{name}.log"))).expect("the folder can be written");
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        command.arg("act").arg(serde_json::to_string(&orders).expect("orders can be written as JSON"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let process = Process::spawn(&mut command).expect("this program can be started again");
        self.members.push(Member {
            role,
            number: orders.number,
            name,
            way,
            process,
            is_paused: false,
            is_killed: false,
            leaving_since: None,
        });
    }
}

impl Member {
    /// SIGKILL.
    pub(super) fn kill(&mut self) {
        self.is_killed = true;
        self.process.kill();
    }

    /// SIGSTOP.
    pub(super) fn pause(&mut self) {
        self.is_paused = true;
        self.process.pause();
    }

    /// SIGCONT.
    pub(super) fn resume(&mut self) {
        self.is_paused = false;
        self.process.resume();
    }

    /// SIGTERM.
    pub(super) fn send_away(&mut self) {
        self.leaving_since.get_or_insert_with(Instant::now);
        if self.is_paused {
            self.resume();
        }
        self.process.terminate();
    }
}
