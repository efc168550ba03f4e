//! The example `github-events`, on both back ends, and killed at random moments.

use outbox_tests::{
    programs,
    servers::{Nats, Postgres, Process},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use sqlx::{AnyConnection, Connection, any::install_default_drivers};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::Duration,
};
use tempfile::TempDir;

/// How often a run is killed that has work left.
const KILLS: u32 = 20;

/// How many webhooks a run has ahead of it, at least: more than it can handle before it is killed.
const AHEAD_MIN: u32 = 1_200;

/// Where the example keeps its data, and how it is started there.
struct Place {
    store: &'static str,
    broker: &'static str,
    database: String,
    nats: Option<Nats>,
    _folder: Option<TempDir>,
}

impl Place {
    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = format!("sqlite://{}/github.db", folder.path().display());
        Self { store: "sqlite", broker: "local", database, nats: None, _folder: Some(folder) }
    }

    /// `None` is a skip that has been printed.
    async fn servers() -> Option<Self> {
        let nats = Nats::private().await?;
        let database = Postgres::shared().await?.fresh_database().await;
        Some(Self { store: "postgres", broker: "nats", database, nats: Some(nats), _folder: None })
    }

    fn command(&self, file: &Path, repeat: u32) -> Command {
        let mut command = programs::github_events();
        command.arg(file).args(["--store", self.store, "--broker", self.broker]);
        command.args(["--repeat", &repeat.to_string()]).env("DATABASE_URL", &self.database);
        if let Some(nats) = &self.nats {
            command.env("NATS_URL", nats.url());
        }
        command
    }

    /// Runs to the end with `--check`.
    fn check(&self, file: &Path, repeat: u32) {
        let output = self.command(file, repeat).arg("--check").output().unwrap();
        let (shown, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{shown}{errors}");
        assert!(shown.contains("no row is missing, none is doubled"), "{shown}");
    }

    /// How many webhooks are stored, and how many events each of the two consumers has counted.
    async fn done(&self) -> [i64; 3] {
        install_default_drivers();
        // The run may have been killed before it made its tables.
        let Ok(mut connection) = AnyConnection::connect(&self.database).await else { return [0; 3] };
        let mut done = [0; 3];
        for (done, count) in done.iter_mut().zip([
            "SELECT count(*) FROM delivery",
            "SELECT CAST(coalesce(sum(events), 0) AS BIGINT) FROM activity",
            "SELECT CAST(coalesce(sum(events), 0) AS BIGINT) FROM work",
        ]) {
            *done = sqlx::query_scalar(count).fetch_one(&mut connection).await.unwrap_or(0);
        }
        done
    }

    /// Kills runs at random moments until [`KILLS`] of them had work left, then lets one run to its end.
    async fn survives_kills(&self) {
        let seed = std::env::var("OUTBOX_SEED").map_or_else(|_| rand::random(), |seed| seed.parse().unwrap());
        println!("seed {seed}; OUTBOX_SEED={seed} makes the same moments");
        let mut random = StdRng::seed_from_u64(seed);
        let file = webhooks();
        let lines = u32::try_from(std::fs::read_to_string(file).unwrap().lines().count()).unwrap();
        let (mut repeat, mut hits, mut moved) = (0, 0, 0);
        let mut before = [0; 3];
        while hits < KILLS {
            let handled = u32::try_from(before[1]).unwrap();
            repeat = repeat.max((handled + AHEAD_MIN).div_ceil(lines));
            let mut command = self.command(file, repeat);
            let mut run = Process::spawn(command.stdout(Stdio::null())).unwrap();
            tokio::time::sleep(Duration::from_millis(random.random_range(50..3_500))).await;
            let was_running = run.is_running();
            run.kill();

            let done = self.done().await;
            let all = i64::from(repeat * lines);
            let has_work_left = done[0] < all || done[1] < all;
            println!("killed with {done:?} of {all} webhooks; running: {was_running}");
            assert!(was_running || !has_work_left, "a run that ended by itself has done its work");
            hits += u32::from(was_running && has_work_left);
            moved += u32::from(done[1] > before[1] && done[2] > before[2]);
            before = done;
        }
        assert_eq!(hits, KILLS);
        assert!(moved >= KILLS / 4, "consumers were at work in {moved} runs only; the kills show little");
        self.check(file, repeat);
    }
}

/// The real webhooks if they are here, else our own.
fn webhooks() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let beside = || root().parent().expect("the checkout lies in a folder").join("shared");
        let folder = std::env::var_os("OUTBOX_DATA").map_or_else(beside, PathBuf::from);
        let file = folder.join("data/github-webhooks.jsonl");
        if file.is_file() {
            return file;
        }
        println!(
            "{} is not here, so our own small set is used; set OUTBOX_DATA to its folder",
            file.display()
        );
        our_own()
    })
}

fn our_own() -> PathBuf {
    root().join("examples/github-events/webhooks.jsonl")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in a folder of the root")
}

#[test]
fn our_own_webhooks_are_all_counted_on_sqlite_also_by_a_second_run() {
    let place = Place::sqlite();
    place.check(&our_own(), 1);
    place.check(&our_own(), 1);
    place.check(&our_own(), 3);
}

#[tokio::test]
async fn our_own_webhooks_are_all_counted_on_postgres_and_nats_also_by_a_second_run() {
    let Some(place) = Place::servers().await else { return };
    place.check(&our_own(), 1);
    place.check(&our_own(), 1);
    place.check(&our_own(), 3);
}

#[test]
fn a_row_that_is_missing_or_doubled_fails_the_check() {
    let place = Place::sqlite();
    place.check(&our_own(), 2);

    let output = place.command(&our_own(), 1).arg("--check").output().unwrap();

    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("missing: activity | acme/till | release | published | 1"), "{errors}");
    assert!(errors.contains("not in the file: activity | acme/till | release | published | 2"), "{errors}");
    assert!(errors.contains("24 webhooks are stored, the file has 12"), "{errors}");
}

#[test]
fn an_address_where_nobody_listens_is_one_clear_error() {
    let mut command = programs::github_events();
    command.arg(our_own()).args([
        "--broker",
        "nats",
        "--nats-url",
        "nats://127.0.0.1:1",
        "--patience-secs",
        "1",
    ]);
    let folder = tempfile::tempdir().unwrap();

    let output = command.current_dir(folder.path()).output().unwrap();

    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.starts_with("error: the broker is not ready\n"), "{errors}");
    assert!(errors.contains("refused"), "{errors}");
}

#[tokio::test]
async fn twenty_kills_at_random_moments_lose_and_double_nothing_on_sqlite() {
    Place::sqlite().survives_kills().await;
}

#[tokio::test]
async fn twenty_kills_at_random_moments_lose_and_double_nothing_on_postgres_and_nats() {
    let Some(place) = Place::servers().await else { return };
    place.survives_kills().await;
}
