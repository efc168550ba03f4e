//! What the other tests take for granted of the private servers.

use outbox_tests::proxy::Proxy;
use outbox_tests::servers::{Kafka, Nats, Postgres, RabbitMq, Redis};
use sqlx::{Connection, PgConnection, Row};
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Set in a test binary that is started again to be killed with its servers.
const VICTIM: &str = "OUTBOX_TESTS_VICTIM";

#[tokio::test]
async fn each_fresh_database_is_empty_and_apart() {
    let Some(postgres) = Postgres::shared().await else { return };
    let (one, other) = (postgres.fresh_database().await, postgres.fresh_database().await);
    let mut one = PgConnection::connect(&one).await.unwrap();
    let mut other = PgConnection::connect(&other).await.unwrap();
    sqlx::raw_sql("CREATE TABLE t (n int)").execute(&mut one).await.unwrap();
    sqlx::raw_sql("CREATE TABLE t (n int)").execute(&mut other).await.unwrap();
}

#[tokio::test]
async fn postgres_keeps_what_was_committed_before_a_kill() {
    let Some(postgres) = Postgres::private().await else { return };
    let url = postgres.fresh_database().await;
    let mut client = PgConnection::connect(&url).await.unwrap();
    sqlx::raw_sql("CREATE TABLE t (n int); INSERT INTO t VALUES (7)").execute(&mut client).await.unwrap();

    postgres.kill();
    assert!(PgConnection::connect(&url).await.is_err());
    postgres.restart().await;

    let mut client = PgConnection::connect(&url).await.unwrap();
    let row = sqlx::query("SELECT n FROM t").fetch_one(&mut client).await.unwrap();
    assert_eq!(row.get::<i32, _>(0), 7);
}

#[tokio::test]
async fn a_kill_ends_a_busy_backend_too() {
    let Some(postgres) = Postgres::private().await else { return };
    let url = postgres.fresh_database().await;
    let mut client = PgConnection::connect(&url).await.unwrap();
    let pid: i32 = sqlx::query("SELECT pg_backend_pid()").fetch_one(&mut client).await.unwrap().get(0);
    let busy = tokio::spawn(async move {
        let endless = "SELECT count(*) FROM generate_series(1, 1000000000000)";
        sqlx::raw_sql(endless).execute(&mut client).await.map(|_| ())
    });
    let mut watcher = PgConnection::connect(&postgres.url("postgres")).await.unwrap();
    let active = "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $1";
    while !sqlx::query(active).bind(pid).fetch_one(&mut watcher).await.unwrap().get::<bool, _>(0) {}

    postgres.kill();

    assert!(busy.await.unwrap().is_err());
    assert!(!is_alive(u32::try_from(pid).unwrap()));
    postgres.restart().await;
}

#[tokio::test]
async fn a_paused_postgres_answers_nothing_until_it_is_resumed() {
    let Some(postgres) = Postgres::private().await else { return };
    let mut client = PgConnection::connect(&postgres.url("postgres")).await.unwrap();
    postgres.pause();
    let mut ping = Box::pin(client.ping());
    assert!(tokio::time::timeout(Duration::from_millis(200), &mut ping).await.is_err());
    postgres.resume();
    ping.await.unwrap();
}

#[tokio::test]
async fn rabbitmq_restarts_on_its_port_after_a_kill_and_is_paused() {
    let Some(rabbitmq) = RabbitMq::private().await else { return };
    rabbitmq.kill();
    assert!(TcpStream::connect(("127.0.0.1", rabbitmq.port())).await.is_err());
    rabbitmq.restart().await;
    assert!(greets_amqp(rabbitmq.port()).await);
    rabbitmq.pause();
    let silent = tokio::time::timeout(Duration::from_millis(300), greets_amqp(rabbitmq.port())).await;
    assert!(silent.is_err(), "a paused server answered");
    rabbitmq.resume();
    assert!(greets_amqp(rabbitmq.port()).await);
}

/// Whether a server answers the greeting of AMQP 0-9-1 with its own: a frame of a method.
async fn greets_amqp(port: u16) -> bool {
    let mut client = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    client.write_all(b"AMQP\x00\x00\x09\x01").await.unwrap();
    let mut first = [0];
    client.read_exact(&mut first).await.is_ok() && first == [1]
}

#[tokio::test]
async fn redis_keeps_what_was_confirmed_before_a_kill() {
    let Some(redis) = Redis::private().await else { return };
    redis.run::<()>(redis_client::cmd("SET").arg("n").arg(7)).await;
    redis.kill();
    assert!(redis.connect().await.is_err());
    redis.restart().await;
    assert_eq!(redis.run::<i64>(redis_client::cmd("GET").arg("n")).await, 7);
}

#[tokio::test]
async fn kafka_keeps_what_was_confirmed_before_a_kill() {
    let Some(kafka) = Kafka::private().await else { return };
    let topic = kafka.fresh_topic();
    kafka.create_topic(&topic, 3, &[]).await;
    kafka.put_foreign(&topic, 1, "something").await.unwrap();
    kafka.kill();
    assert!(TcpStream::connect(("127.0.0.1", kafka.port())).await.is_err());
    kafka.restart().await;
    assert_eq!(kafka.offsets(&topic).await, [(0, 0), (0, 1), (0, 0)]);
}

#[tokio::test]
async fn nats_restarts_on_its_port_after_a_kill() {
    let Some(nats) = Nats::private().await else { return };
    nats.kill();
    assert!(TcpStream::connect(("127.0.0.1", nats.port())).await.is_err());
    nats.restart().await;
    TcpStream::connect(("127.0.0.1", nats.port())).await.unwrap();
}

/// Starts this very binary again with servers of its own, kills it, and looks for them.
#[tokio::test]
async fn no_server_outlives_a_killed_test_process() {
    if std::env::var_os(VICTIM).is_some() {
        return wait_to_be_killed().await;
    }
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "servers::no_server_outlives_a_killed_test_process", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(victim.stdout.take().unwrap()));
    let servers = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("PORTS ").map(str::to_owned));
    let Some(ports) = servers else {
        victim.wait().unwrap();
        return eprintln!("SKIPPED: no server is installed");
    };
    let ports: Vec<u16> = ports.split(' ').map(|port| port.parse().unwrap()).collect();

    victim.kill().unwrap();
    victim.wait().unwrap();

    for port in ports {
        let gone = async { while TcpStream::connect(("127.0.0.1", port)).await.is_ok() {} };
        tokio::time::timeout(Duration::from_secs(20), gone).await.expect("the server outlived its test");
    }
}

async fn wait_to_be_killed() {
    let (Some(postgres), Some(nats)) = (Postgres::shared().await, Nats::shared().await) else { return };
    println!("PORTS {} {}", postgres.port(), nats.port());
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn the_proxy_stalls_resumes_and_cuts() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::to(server.local_addr().unwrap().port()).await;
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    let (mut served, _) = server.accept().await.unwrap();
    let mut byte = [0];

    client.write_all(b"a").await.unwrap();
    served.read_exact(&mut byte).await.unwrap();

    proxy.stall();
    client.write_all(b"b").await.unwrap();
    let held = tokio::time::timeout(Duration::from_millis(200), served.read_exact(&mut byte)).await;
    assert!(held.is_err(), "a stalled proxy passed a byte");
    proxy.resume();
    served.read_exact(&mut byte).await.unwrap();
    assert_eq!(byte, *b"b");

    proxy.cut();
    assert_eq!(served.read(&mut byte).await.unwrap_or(0), 0);
    assert_eq!(client.read(&mut byte).await.unwrap_or(0), 0);
}

/// Whether the process exists and is no zombie.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}
