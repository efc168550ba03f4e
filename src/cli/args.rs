//! What can be typed.

use super::{failure::Failure, moment};
use crate::{
    EventId, OnPoison, RelayConfig, ScheduledFilter, Start, cursor::Filter, dead_letter::DeadLetterFilter,
    envelope::Seq, held::Stage, store::Retention,
};
use clap::{Parser, Subcommand};
use std::{path::PathBuf, time::Duration};
use time::OffsetDateTime;

/// Operates the outbox of a database.
#[derive(Debug, Parser)]
#[command(name = "outbox", version, arg_required_else_help = true)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Which database, and how long it is waited for.
#[derive(Debug, clap::Args)]
pub(super) struct DatabaseArgs {
    /// The database: `sqlite://FILE` or `postgres://USER@HOST/DATABASE`
    #[arg(long, value_name = "URL", env = "OUTBOX_DATABASE_URL", hide_env_values = true, global = true)]
    pub(super) database_url: Option<String>,
    /// The schema of the outbox's tables (PostgreSQL) [default: public]
    #[arg(long, value_name = "NAME", global = true)]
    pub(super) schema: Option<String>,
    /// What the names of the outbox's tables begin with
    #[arg(long, value_name = "TEXT", default_value = "outbox_", global = true)]
    pub(super) prefix: String,
    /// How long an unreachable database or broker is waited for
    #[arg(long, value_name = "SPAN", default_value = "30s", value_parser = moment::span, global = true)]
    pub(super) patience: Duration,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Creates or updates the tables, under the role that owns them
    Migrate {
        /// How long the log is to keep an event that every relay and consumer has settled (PostgreSQL; a relay of SQLite is
        /// told)
        #[arg(long, value_name = "SPAN", default_value = "7d", value_parser = moment::span)]
        retention: Duration,
    },
    /// Publishes committed events to a broker until SIGTERM or SIGINT
    Relay(RelayArgs),
    /// Shows each relay and consumer in numbers
    Status {
        /// As one JSON object on one line
        #[arg(long)]
        json: bool,
    },
    /// Lists, shows, replays and discards the events that were given up
    #[command(subcommand)]
    DeadLetters(DeadLettersCommand),
    /// Lists and cancels the events that wait for their time
    #[command(subcommand)]
    Scheduled(ScheduledCommand),
    /// Forgets consumers that nobody runs any more
    #[command(subcommand)]
    Consumers(ForgetCommand),
    /// Forgets relays that nobody runs any more
    #[command(subcommand)]
    Relays(ForgetCommand),
    /// Moves the log past the numbers that a restored or promoted database may give out twice
    Repair,
}

#[derive(Debug, clap::Args)]
pub(super) struct RelayArgs {
    /// The broker: `nats://HOST:PORT`, several joined by commas
    #[arg(long, value_name = "URL", env = "OUTBOX_BROKER_URL", hide_env_values = true)]
    pub(super) broker: String,
    /// A file with the certificates to trust beside the system's
    #[arg(long, value_name = "FILE")]
    pub(super) broker_certificates: Option<PathBuf>,
    /// The relay's name; its progress is kept under it
    #[arg(long, default_value = "default")]
    pub(super) name: String,
    /// Publishes events of this topic only; may be given several times
    #[arg(long = "topic", value_name = "TOPIC")]
    pub(super) topics: Vec<String>,
    /// Publishes events of this type only; may be given several times
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) event_types: Vec<String>,
    /// Publishes events only that have this user header with this value; given several times, all of them
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = header)]
    pub(super) headers: Vec<(String, String)>,
    /// Where a new relay begins: `earliest`, `latest`, a time such as `2026-01-31T08:00:00Z`, an age such as `2h`, or the
    /// sequence number of an event [default: earliest]
    #[arg(long, value_name = "PLACE", value_parser = start)]
    pub(super) start: Option<Start>,
    /// What becomes of events that the broker refuses for good or never confirms: `park`, `block` or `skip`, for all
    /// types or for one; may be given several times [default: as the type of the event says]
    #[arg(long = "on-poison", value_name = "[TYPE=]POLICY", value_parser = poison)]
    pub(super) on_poison: Vec<(Option<String>, OnPoison)>,
    /// How often an event is tried that the broker does not confirm while it confirms others [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) attempts: Option<u32>,
    /// How long the log keeps an event that every relay and consumer has settled; on PostgreSQL no longer than `migrate` was
    /// told [default: 7d]
    #[arg(long, value_name = "SPAN", value_parser = moment::span)]
    pub(super) retention: Option<Duration>,
    /// How much longer an event is kept for a relay or consumer that lags [default: 7d]
    #[arg(long, value_name = "SPAN", value_parser = moment::span)]
    pub(super) retention_wait: Option<Duration>,
    /// How long a dead letter is kept after its last failure [default: 90d]
    #[arg(long, value_name = "SPAN", value_parser = moment::span)]
    pub(super) dead_letter_retention: Option<Duration>,
    /// The most keys that may wait before the relay reads no further [default: 100000]
    #[arg(long, value_name = "N")]
    pub(super) waiting_keys_max: Option<u64>,
}

impl RelayArgs {
    /// What is kept how long.
    pub(super) fn kept(&self) -> Retention {
        let default = Retention::default();
        Retention {
            log: self.retention.unwrap_or(default.log),
            wait_max: self.retention_wait.unwrap_or(default.wait_max),
            dead_letters: self.dead_letter_retention.unwrap_or(default.dead_letters),
            ..default
        }
    }

    /// The relay that was described.
    pub(super) fn config(&self) -> RelayConfig {
        let filter = Filter {
            topics: self.topics.clone(),
            event_types: self.event_types.clone(),
            headers: self.headers.iter().cloned().collect(),
        };
        let mut config = RelayConfig { filter, start: self.start, ..RelayConfig::named(&self.name) };
        for (event_type, policy) in &self.on_poison {
            match event_type {
                Some(event_type) => config.on_poison_of.insert(event_type.clone(), *policy),
                None => config.on_poison.replace(*policy),
            };
        }
        config.retry.attempts = self.attempts.unwrap_or(config.retry.attempts);
        config.waiting_keys_max = self.waiting_keys_max.unwrap_or(config.waiting_keys_max);
        config
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum DeadLettersCommand {
    /// Lists them by number, without payloads
    List {
        #[command(flatten)]
        filter: FilterArgs,
        /// The most to list; all by default
        #[arg(long, value_name = "N")]
        max: Option<u64>,
    },
    /// Shows everything that is known of one, its payload included
    Show {
        /// Their numbers, as `list` gives them
        #[arg(value_name = "ID", required = true)]
        ids: Vec<i64>,
    },
    /// Asks that they be tried again; their keys go on when that is done
    Replay(RequestArgs),
    /// Asks that they be removed for good; their keys go on
    Discard(RequestArgs),
}

#[derive(Debug, Subcommand)]
pub(super) enum ForgetCommand {
    /// Removes the progress of one that nobody runs, so that the log is no longer kept for it
    Forget(ForgetArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct ForgetArgs {
    /// Its name
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// Also discards the events that it holds or has set aside; without it nothing is done while there are any
    #[arg(long)]
    pub(super) discard: bool,
    /// As one JSON object on one line
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum ScheduledCommand {
    /// Lists them, the soonest first, without payloads
    List {
        #[command(flatten)]
        filter: ScheduledFilterArgs,
        /// The most to list; all by default
        #[arg(long, value_name = "N")]
        max: Option<u64>,
        /// As one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Takes them back for good; says so where it is too late, and ends with 1 then
    Cancel {
        /// Their ids, as `list` gives them
        #[arg(value_name = "EVENT", required = true)]
        ids: Vec<EventId>,
        /// As one JSON object a line
        #[arg(long)]
        json: bool,
    },
}

/// Which scheduled events: those that match every condition.
#[derive(Debug, clap::Args)]
pub(super) struct ScheduledFilterArgs {
    /// Of this event type
    #[arg(long = "type", value_name = "TYPE")]
    event_type: Option<String>,
    /// Of this partition key
    #[arg(long)]
    key: Option<String>,
    /// Due before this time, such as `2026-01-31T08:00:00Z`
    #[arg(long, value_name = "TIME", value_parser = moment::moment)]
    until: Option<OffsetDateTime>,
}

impl ScheduledFilterArgs {
    pub(super) fn filter(self) -> ScheduledFilter {
        let Self { event_type, key, until } = self;
        ScheduledFilter { event_type, key, until, after: None }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct RequestArgs {
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Takes every dead letter when no condition is given
    #[arg(long)]
    pub(super) all: bool,
    /// Only says how many match
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// Which dead letters: those that match every condition.
#[derive(Debug, clap::Args)]
pub(super) struct FilterArgs {
    /// Of this number; may be given several times
    #[arg(long = "id", value_name = "ID")]
    pub(super) ids: Vec<i64>,
    /// Of this stage: `relay/NAME` or `consumer/NAME`
    #[arg(long, value_parser = stage)]
    pub(super) stage: Option<Stage>,
    /// Of this event type
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) event_type: Option<String>,
    /// Of this partition key
    #[arg(long)]
    pub(super) key: Option<String>,
    /// Given up for this reason, such as `handler-error`
    #[arg(long)]
    pub(super) reason: Option<String>,
    /// Last failed at this time or later: `2026-01-31T08:00:00Z`, or an age such as `2h`
    #[arg(long, value_name = "TIME", value_parser = moment::moment)]
    pub(super) since: Option<OffsetDateTime>,
    /// Last failed before this time
    #[arg(long, value_name = "TIME", value_parser = moment::moment)]
    pub(super) until: Option<OffsetDateTime>,
}

impl FilterArgs {
    pub(super) fn filter(self) -> DeadLetterFilter {
        let Self { ids, stage, event_type, key, reason, since, until } = self;
        DeadLetterFilter { ids, stage, event_type, key, reason, since, until, after: None }
    }
}

impl RequestArgs {
    /// The filter; without a condition it takes `--all`, so that a forgotten one does not reach everything.
    pub(super) fn filter(self) -> Result<DeadLetterFilter, Failure> {
        let filter = self.filter.filter();
        if filter == DeadLetterFilter::default() && !self.all {
            return Err(Failure::Usage(
                "no condition is given; add one, such as `--id`, or `--all` for every dead letter".to_owned(),
            ));
        }
        Ok(filter)
    }
}

fn stage(text: &str) -> Result<Stage, String> {
    match text.split_once('/') {
        Some(("relay", name)) if !name.is_empty() => Ok(Stage::relay(name)),
        Some(("consumer", name)) if !name.is_empty() => Ok(Stage::consumer(name)),
        _ => Err("write `relay/NAME` or `consumer/NAME`".to_owned()),
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write `NAME=VALUE`".to_owned()),
    }
}

fn poison(text: &str) -> Result<(Option<String>, OnPoison), String> {
    let (event_type, policy) = match text.split_once('=') {
        Some((event_type, policy)) => (Some(event_type.to_owned()), policy),
        None => (None, text),
    };
    let policy =
        OnPoison::parse(policy).ok_or("write `park`, `block` or `skip`, or `TYPE=park` for one type")?;
    Ok((event_type, policy))
}

fn start(text: &str) -> Result<Start, String> {
    match text {
        "earliest" => Ok(Start::Earliest),
        "latest" => Ok(Start::Latest),
        _ => text.parse().map(|seq| Start::From(Seq(seq))).or_else(|_| moment::moment(text).map(Start::At)).map_err(
            |_| "write `earliest`, `latest`, a time such as `2026-01-31T08:00:00Z`, an age such as `2h`, or a sequence \
                 number".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_holds_together() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_stage_is_named_with_its_kind() {
        assert_eq!(stage("consumer/billing.charge"), Ok(Stage::consumer("billing.charge")));
        assert!(stage("billing.charge").is_err());
        assert!(stage("relay/").is_err());
    }

    #[test]
    fn a_policy_is_for_all_types_or_for_one() {
        assert_eq!(poison("skip"), Ok((None, OnPoison::Skip)));
        assert_eq!(poison("orders.placed=block"), Ok((Some("orders.placed".to_owned()), OnPoison::Block)));
        assert!(poison("orders.placed").is_err());
    }

    #[test]
    fn a_start_is_a_word_a_time_an_age_or_a_number() {
        assert_eq!(start("earliest"), Ok(Start::Earliest));
        assert_eq!(start("latest"), Ok(Start::Latest));
        assert_eq!(start("1000000000000000007"), Ok(Start::From(Seq(1_000_000_000_000_000_007))));
        assert!(matches!(start("2026-01-31T08:00:00Z"), Ok(Start::At(_))));
        assert!(matches!(start("2h"), Ok(Start::At(_))));
        for wrong in ["", "newest", "2026-01-31", "99999999999999999999"] {
            assert!(start(wrong).is_err(), "{wrong:?}");
        }
    }
}
