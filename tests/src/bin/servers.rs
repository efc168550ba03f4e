//! Private servers for whoever started this, until its standard input is closed: `servers local|nats|redis|rabbitmq|kafka`.
//!
//! The first line is the address of a database of PostgreSQL, the second that of the broker, if one was asked for.

use outbox_tests::servers::{BrokerServer, Kafka, Nats, Postgres, RabbitMq, Redis};
use std::io;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    // What is not installed has been said.
    let Some(postgres) = Postgres::private().await else { return ExitCode::FAILURE };
    let database = postgres.fresh_database().await;
    let broker = match name.as_str() {
        "local" => None,
        "nats" => Nats::private().await.map(BrokerServer::Nats),
        "redis" => Redis::private().await.map(BrokerServer::Redis),
        "rabbitmq" => RabbitMq::private().await.map(BrokerServer::RabbitMq),
        "kafka" => Kafka::private().await.map(BrokerServer::Kafka),
        _ => {
            eprintln!("servers local|nats|redis|rabbitmq|kafka");
            return ExitCode::FAILURE;
        }
    };
    if broker.is_none() && name != "local" {
        return ExitCode::FAILURE;
    }
    println!("{database}");
    if let Some(broker) = &broker {
        println!("{}", broker.url());
    }
    // Nothing else is to be done meanwhile. An error is an end too.
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    ExitCode::SUCCESS
}
