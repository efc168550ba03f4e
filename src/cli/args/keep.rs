//! What can be typed for what keeps the tables up.

use crate::{cli::moment, store::Retention};
use std::{path::PathBuf, time::Duration};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct KeepArgs {
    /// How long the log keeps an event that every relay and consumer has settled; on PostgreSQL no longer than `migrate` was
    /// told [default: 7d]
    #[arg(long, value_name = "SPAN", value_parser = moment::span)]
    retention: Option<Duration>,
    /// How much longer an event is kept for a relay or consumer that lags [default: 7d]
    #[arg(long, value_name = "SPAN", value_parser = moment::span)]
    retention_wait: Option<Duration>,
    /// How long a dead letter is kept after its last failure [default: 90d]
    #[arg(long, value_name = "SPAN", value_parser = moment::span)]
    dead_letter_retention: Option<Duration>,
    /// A program to start when dead letters have come, once for each rise: it gets JSON on stdin, and is started again until
    /// it ends with 0
    #[arg(long, value_name = "PROGRAM")]
    pub(in crate::cli) on_dead_letters: Option<PathBuf>,
    /// An address to which the same JSON is posted, once for each rise, and again until it is taken
    #[arg(long, value_name = "URL", env = "OUTBOX_DEAD_LETTER_WEBHOOK", hide_env_values = true)]
    pub(in crate::cli) dead_letter_webhook: Option<String>,
}

impl KeepArgs {
    /// What is kept how long.
    pub(in crate::cli) fn retention(&self) -> Retention {
        let default = Retention::default();
        Retention {
            log: self.retention.unwrap_or(default.log),
            wait_max: self.retention_wait.unwrap_or(default.wait_max),
            dead_letters: self.dead_letter_retention.unwrap_or(default.dead_letters),
            ..default
        }
    }
}
