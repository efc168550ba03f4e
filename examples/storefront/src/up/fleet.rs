//! The processes of the services: started, killed, upgraded.

use crate::{cargo, servers::Servers};
use std::{
    fs::File,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use storefront::{Result, broker::BrokerName, service::Service};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdout, Command},
    sync::oneshot,
    time::timeout,
};

/// How long a service may take to get ready, or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// A release of all services, which is one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    One,
    Two,
}

impl Release {
    fn program(self) -> &'static str {
        match self {
            Self::One => "storefront-v1",
            Self::Two => "storefront-v2",
        }
    }
}

/// All services, each in a process of its own.
#[derive(Debug)]
pub(crate) struct Fleet {
    members: Vec<Member>,
    scene: Scene,
}

/// What every process is started with.
#[derive(Debug)]
struct Scene {
    programs: PathBuf,
    logs: PathBuf,
    broker: BrokerName,
    database_url: String,
    broker_url: Option<String>,
    orders_address: String,
}

/// A service in its process of now.
#[derive(Debug)]
struct Member {
    service: Service,
    release: Release,
    process: Child,
    /// Duplicates that this process dropped, as far as it told.
    duplicates: Arc<AtomicU64>,
    duplicates_before: u64,
    kills: u32,
}

impl Fleet {
    /// Starts every service in release 1, and waits until all are ready.
    pub(crate) async fn start(programs: PathBuf, broker: BrokerName, servers: &Servers) -> Result<Self> {
        let logs = std::env::temp_dir().join(format!("storefront-{}", std::process::id()));
        std::fs::create_dir(&logs)?;
        println!("the services log to {}", logs.display());
        let scene = Scene {
            programs,
            logs,
            broker,
            database_url: servers.database_url.clone(),
            broker_url: servers.broker_url.clone(),
            orders_address: free_address()?,
        };
        let mut members = Vec::new();
        let mut all_ready = Vec::new();
        for service in Service::ALL {
            let (process, duplicates, ready) = scene.spawn(service, Release::One)?;
            members.push(Member {
                service,
                release: Release::One,
                process,
                duplicates,
                duplicates_before: 0,
                kills: 0,
            });
            all_ready.push((service, ready));
        }
        // A broker such as RabbitMQ keeps nothing for a consumer that it has not heard of yet, so the first order comes
        // when all have begun.
        for (service, ready) in all_ready {
            let waited = timeout(PATIENCE, ready).await;
            waited
                .ok()
                .and_then(std::result::Result::ok)
                .ok_or_else(|| scene.failure(service, "did not get ready"))?;
        }
        Ok(Self { members, scene })
    }

    /// Where the orders service takes orders.
    pub(crate) fn orders_address(&self) -> String {
        self.scene.orders_address.clone()
    }

    /// Ends a service by SIGKILL, and starts it again.
    pub(crate) async fn kill(&mut self, service: Service) -> Result {
        let member = &mut self.members[service as usize];
        member.process.kill().await?;
        member.kills += 1;
        member.restart(&self.scene)
    }

    /// Moves a service to release 2.
    pub(crate) async fn upgrade(&mut self, service: Service, kills: bool) -> Result {
        let member = &mut self.members[service as usize];
        if kills {
            member.process.kill().await?;
        } else {
            member.stop(&self.scene).await?;
        }
        member.release = Release::Two;
        member.restart(&self.scene)
    }

    /// # Errors
    /// A service ended though nobody asked it to.
    pub(crate) fn all_run(&mut self) -> Result {
        for member in &mut self.members {
            if let Some(status) = member.process.try_wait()? {
                return Err(self.scene.failure(member.service, &format!("ended by itself, with {status}")));
            }
        }
        Ok(())
    }

    /// The release of each service.
    pub(crate) fn releases(&self) -> String {
        let number = |member: &Member| if member.release == Release::One { "1" } else { "2" };
        self.members.iter().map(number).collect::<Vec<_>>().join(" ")
    }

    /// How many duplicates were dropped, as far as processes told before they were killed.
    pub(crate) fn duplicates(&self) -> u64 {
        let of = |member: &Member| member.duplicates_before + member.duplicates.load(Ordering::Relaxed);
        self.members.iter().map(of).sum()
    }

    /// How often a service was killed.
    pub(crate) fn kills(&self) -> u32 {
        self.members.iter().map(|member| member.kills).sum()
    }

    /// Stops every service, and removes the logs if nobody needs them.
    pub(crate) async fn stop(mut self, went_well: bool) -> Result {
        for member in &mut self.members {
            member.stop(&self.scene).await?;
        }
        if went_well {
            std::fs::remove_dir_all(&self.scene.logs)?;
        }
        Ok(())
    }
}

impl Member {
    fn restart(&mut self, scene: &Scene) -> Result {
        self.duplicates_before += self.duplicates.load(Ordering::Relaxed);
        (self.process, self.duplicates, _) = scene.spawn(self.service, self.release)?;
        Ok(())
    }

    /// Lets it finish what it has in hand.
    async fn stop(&mut self, scene: &Scene) -> Result {
        drop(self.process.stdin.take());
        match timeout(PATIENCE, self.process.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            _ => Err(scene.failure(self.service, "did not stop well")),
        }
    }
}

impl Scene {
    fn spawn(
        &self,
        service: Service,
        release: Release,
    ) -> Result<(Child, Arc<AtomicU64>, oneshot::Receiver<()>)> {
        let log = File::options().create(true).append(true).open(self.log(service))?;
        let mut command = Command::new(self.programs.join(release.program()));
        command.args([service.name(), "--broker", &self.broker.name(), "--listen", &self.orders_address]);
        // Addresses may hold passwords, which every user of the machine sees among the arguments.
        command.env("DATABASE_URL", &self.database_url);
        if let Some(url) = &self.broker_url {
            command.env("BROKER_URL", url);
        }
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).kill_on_drop(true).spawn()?;
        let duplicates = Arc::new(AtomicU64::new(0));
        let (is_ready, ready) = oneshot::channel();
        let told = process.stdout.take().expect("it is piped");
        tokio::spawn(listen(told, duplicates.clone(), is_ready));
        Ok((process, duplicates, ready))
    }

    fn log(&self, service: Service) -> PathBuf {
        self.logs.join(format!("{}.log", service.name()))
    }

    fn failure(&self, service: Service, what: &str) -> Box<dyn std::error::Error + Send + Sync> {
        format!("{} {what}; see {}", service.name(), self.log(service).display()).into()
    }
}

/// Hears what a service tells, until it ends.
async fn listen(told: ChildStdout, duplicates: Arc<AtomicU64>, is_ready: oneshot::Sender<()>) {
    let mut is_ready = Some(is_ready);
    let mut lines = BufReader::new(told).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(count) = line.strip_prefix("duplicates ") {
            duplicates.store(count.parse().unwrap_or(0), Ordering::Relaxed);
        } else if let Some(is_ready) = is_ready.take_if(|_| line == "ready") {
            let _ = is_ready.send(());
        }
    }
}

/// The folder of the services' programs, beside this one. Cargo has built no more than what it was told to run, so if it
/// runs this, it is asked to build them too.
pub(crate) async fn programs() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().map(Path::to_path_buf).ok_or("a program lies in a folder")?;
    if let Some(cargo) = cargo::around() {
        let mut build = cargo::command(cargo);
        build.args(["build", "--bins"]);
        build.args(folder.ends_with("release").then_some("--release"));
        if !build.status().await?.success() {
            return Err("the services do not build".into());
        }
    }
    Ok(folder)
}

/// An address on this machine that was free a moment ago, below the ports that the kernel gives to connections: nobody
/// may take it while the service is down.
fn free_address() -> Result<String> {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = (0..100).map(|_| rand::random_range(15_000..30_000)).find(is_free);
    Ok(format!("127.0.0.1:{}", port.ok_or("no port is free")?))
}
