//! Polls the futures of all processes, one at a time, in an order that the seed decides.

use super::world::World;
use futures_util::future::BoxFuture;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Whose future it is. A process is paused and killed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Process(pub(super) u32);

impl Process {
    /// The database, the broker, and those who break things.
    pub(super) const OUTSIDE: Self = Self(0);
}

/// A future of a process.
pub(super) type Task = BoxFuture<'static, ()>;

/// What is to happen to tasks, and which are ready.
#[derive(Default)]
pub(super) struct Schedule {
    spawned: Mutex<Vec<(Process, Task)>>,
    killed: Mutex<Vec<Process>>,
    paused: Mutex<BTreeSet<Process>>,
    ready: Arc<Mutex<Ready>>,
}

#[derive(Default)]
struct Ready {
    tasks: BTreeSet<u64>,
    executor: Option<Waker>,
}

impl std::fmt::Debug for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedule").finish_non_exhaustive()
    }
}

impl Schedule {
    pub(super) fn spawn(&self, process: Process, task: impl Future<Output = ()> + Send + 'static) {
        self.spawned.lock().unwrap().push((process, Box::pin(task)));
        self.wake();
    }

    /// Drops everything of a process.
    pub(super) fn kill(&self, process: Process) {
        self.killed.lock().unwrap().push(process);
        self.wake();
    }

    /// Polls nothing of a process until it is resumed.
    pub(super) fn pause(&self, process: Process) {
        self.paused.lock().unwrap().insert(process);
    }

    pub(super) fn resume(&self, process: Process) {
        self.paused.lock().unwrap().remove(&process);
        self.wake();
    }

    fn wake(&self) {
        if let Some(executor) = &self.ready.lock().unwrap().executor {
            executor.wake_by_ref();
        }
    }
}

struct TaskWaker {
    task: u64,
    ready: Arc<Mutex<Ready>>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        let mut ready = self.ready.lock().unwrap();
        ready.tasks.insert(self.task);
        if let Some(executor) = &ready.executor {
            executor.wake_by_ref();
        }
    }
}

struct Running {
    process: Process,
    task: Task,
    waker: Waker,
}

/// Runs everything that is spawned in `world` until `until` gives an answer.
pub(super) async fn run<T>(world: &Arc<World>, mut until: impl FnMut() -> Option<T>) -> T {
    let schedule = &world.schedule;
    let mut tasks: BTreeMap<u64, Running> = BTreeMap::new();
    let mut spawned = 0;
    poll_fn(|cx| {
        schedule.ready.lock().unwrap().executor = Some(cx.waker().clone());
        loop {
            if let Some(answer) = until() {
                return Poll::Ready(answer);
            }
            for process in std::mem::take(&mut *schedule.killed.lock().unwrap()) {
                tasks.retain(|_, running| running.process != process);
            }
            for (process, task) in std::mem::take(&mut *schedule.spawned.lock().unwrap()) {
                let ready = Arc::clone(&schedule.ready);
                ready.lock().unwrap().tasks.insert(spawned);
                let waker = Waker::from(Arc::new(TaskWaker { task: spawned, ready }));
                tasks.insert(spawned, Running { process, task, waker });
                spawned += 1;
            }
            let Some(chosen) = choose(world, &tasks) else { return Poll::Pending };
            let Running { process, task, waker } = tasks.get_mut(&chosen).expect("a ready task is there");
            world.enter(*process);
            if task.as_mut().poll(&mut Context::from_waker(waker)).is_ready() {
                tasks.remove(&chosen);
            }
        }
    })
    .await
}

/// One of the ready tasks of processes that are not paused.
fn choose(world: &World, tasks: &BTreeMap<u64, Running>) -> Option<u64> {
    let paused = world.schedule.paused.lock().unwrap();
    let mut ready = world.schedule.ready.lock().unwrap();
    let may_run = |task: &&u64| {
        tasks.get(*task).is_some_and(|running| paused.is_empty() || !paused.contains(&running.process))
    };
    let candidates: Vec<u64> = ready.tasks.iter().filter(may_run).copied().collect();
    let chosen = *candidates.get(usize::try_from(world.below(candidates.len() as u64)).ok()?)?;
    ready.tasks.remove(&chosen);
    Some(chosen)
}
