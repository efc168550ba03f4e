//! Where the servers are.
//!
//! How to start a private RabbitMQ is nothing that a shop should know, so none of that is here: the tests of outbox know
//! it, and have a program that starts servers for as long as somebody wants them. Who copies this example gives addresses.

use crate::{Up, cargo};
use std::process::Stdio;
use storefront::{Result, broker::BrokerName};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

/// The addresses of the servers. Private ones end with this, or with this process.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) database_url: String,
    pub(crate) broker_url: Option<String>,
    /// It goes on until its standard input is closed.
    _private: Option<Child>,
}

impl Servers {
    /// Those that were named, or else private ones.
    pub(crate) async fn find(args: &Up) -> Result<Self> {
        let needs_broker = args.broker != BrokerName::Local;
        match (&args.database_url, &args.broker_url) {
            (None, None) => Self::start(args.broker).await,
            (Some(database_url), broker_url) if broker_url.is_some() || !needs_broker => Ok(Self {
                database_url: database_url.clone(),
                broker_url: broker_url.clone(),
                _private: None,
            }),
            _ => Err("set DATABASE_URL and BROKER_URL, or neither to have private servers started".into()),
        }
    }

    async fn start(broker: BrokerName) -> Result<Self> {
        println!("starting private servers; for your own, set DATABASE_URL and BROKER_URL");
        let mut private = cargo::command(cargo::around().unwrap_or_else(|| "cargo".into()))
            .args(["run", "--package", "outbox-tests", "--bin", "servers", "--", &broker.name()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(private.stdout.take().expect("it is piped")).lines();
        let mut urls = Vec::new();
        while let Some(line) = lines.next_line().await? {
            urls.push(line);
            if urls.len() == 2 || broker == BrokerName::Local {
                break;
            }
        }
        let mut urls = urls.into_iter();
        let database_url =
            urls.next().ok_or("no private servers can be had; set DATABASE_URL and BROKER_URL")?;
        Ok(Self { database_url, broker_url: urls.next(), _private: Some(private) })
    }
}
