//! Breaks everything that can be broken while producers, relays and consumers work, and holds their records against the
//! promises: `torture [--minutes N] [--seed S] [--store postgres|sqlite] [--broker local|nats|redis|rabbitmq|kafka] [--keep]`.

use outbox_tests::torture::{self, BrokerKind, Options, Plant, StoreKind};
use std::process::ExitCode;
use std::time::Duration;

/// Not in it: `--plant NAME`, a fault of the torture's own that must be found, and `--patience-secs N`, how long nothing may
/// move at the end.
const USAGE: &str = "torture [--minutes N] [--seed S] [--store postgres|sqlite] [--broker local|nats|redis|rabbitmq|kafka] [--keep]";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, orders] = &arguments[..]
        && command == "act"
    {
        return torture::act(orders).await;
    }
    match options(&arguments) {
        Ok(options) => torture::torture(&options).await,
        Err(problem) => {
            eprintln!("{problem}; {USAGE}");
            ExitCode::FAILURE
        }
    }
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        span: Duration::from_secs(60),
        seed: rand::random_range(0..1_000_000),
        store: StoreKind::Postgres,
        broker: BrokerKind::Nats,
        patience: Duration::from_secs(60),
        plant: None,
        keeps: arguments.iter().any(|argument| argument == "--keep"),
    };
    let pairs: Vec<&String> = arguments.iter().filter(|argument| *argument != "--keep").collect();
    for pair in pairs.chunks(2) {
        let [name, value] = pair else { return Err(format!("`{}` has no value", pair[0])) };
        let wrong = || format!("`{value}` is no value of `{name}`");
        match (name.as_str(), value.as_str()) {
            ("--minutes", minutes) => {
                let minutes: f64 = minutes.parse().map_err(|_| wrong())?;
                options.span = Duration::try_from_secs_f64(minutes * 60.0).map_err(|_| wrong())?;
            }
            ("--seed", seed) => options.seed = seed.parse().map_err(|_| wrong())?,
            ("--store", "postgres") => options.store = StoreKind::Postgres,
            ("--store", "sqlite") => options.store = StoreKind::Sqlite,
            ("--broker", "local") => options.broker = BrokerKind::Local,
            ("--broker", "nats") => options.broker = BrokerKind::Nats,
            ("--broker", "redis") => options.broker = BrokerKind::Redis,
            ("--broker", "rabbitmq") => options.broker = BrokerKind::RabbitMq,
            ("--broker", "kafka") => options.broker = BrokerKind::Kafka,
            ("--patience-secs", secs) => {
                options.patience = Duration::from_secs(secs.parse().map_err(|_| wrong())?)
            }
            ("--plant", plant) => options.plant = Some(plant_of(plant).ok_or_else(wrong)?),
            ("--store" | "--broker", _) => return Err(wrong()),
            _ => return Err(format!("`{name}` is no option")),
        }
    }
    Ok(options)
}

fn plant_of(name: &str) -> Option<Plant> {
    let all = [
        Plant::Phantom,
        Plant::Loss,
        Plant::Inversion,
        Plant::Double,
        Plant::Blame,
        Plant::Gap,
        Plant::Again,
    ];
    all.into_iter().find(|plant| format!("{plant:?}").to_lowercase() == name)
}
