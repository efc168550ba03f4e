//! What can be typed.

mod debezium;
mod doctor;
mod keep;

pub(super) use debezium::DebeziumArgs;
pub(super) use doctor::{DoctorArgs, SetupArgs};
pub(super) use keep::KeepArgs;

use super::{failure::Failure, moment};
use crate::{
    EventId, OnPoison, RelayConfig, ScheduledFilter, Start,
    broker::cloudevents::ContentMode,
    cursor::Filter,
    dead_letter::{DeadLetterFilter, Terms},
    envelope::Seq,
    held::Stage,
    range::Range,
};
use clap::{Parser, Subcommand};
use std::{num::NonZeroU32, time::Duration};
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

/// What every command takes: which database, how long it is waited for, and how it answers.
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
    /// Answers with one JSON object on one line
    #[arg(long, global = true)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Creates or updates the tables, under the role that owns them
    Migrate {
        /// How long the log is to keep an event that every relay and consumer has settled (PostgreSQL; a relay of SQLite is
        /// told) [default: as the database has it; 7d for a new one]
        #[arg(long, value_name = "SPAN", value_parser = moment::span)]
        retention: Option<Duration>,
    },
    /// Publishes committed events to a broker until SIGTERM or SIGINT
    Relay(RelayArgs),
    /// Moves scheduled events into the log and clears it where no relay does so, as beside Debezium, until SIGTERM or SIGINT
    Upkeep(KeepArgs),
    /// Shows each relay and consumer in numbers
    Status,
    /// Looks for what is wrong or will be, and says how to mend it; ends with 1 when something is
    Doctor(DoctorArgs),
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
    /// Replays a range of the log to one relay, one consumer or a topic of its own
    #[command(subcommand)]
    Replay(ReplayCommand),
    /// Lists what was done with dead letters, by whom and why
    Audit(AuditArgs),
    /// Prints what it takes to have Debezium read the log, in place of a relay to Kafka or beside one (PostgreSQL)
    DebeziumConfig(DebeziumArgs),
    /// Moves the log past the numbers that a restored or promoted database may give out twice
    Repair,
}

#[derive(Debug, clap::Args)]
pub(super) struct RelayArgs {
    /// The broker: `nats://HOST:PORT` or `kafka://HOST:PORT`, several joined by commas, `redis://HOST:PORT`, or
    /// `amqp://HOST:PORT/VHOST`; with TLS `tls://`, `kafka+ssl://`, `rediss://`, `amqps://`
    #[arg(long, value_name = "URL", env = "OUTBOX_BROKER_URL", hide_env_values = true)]
    pub(super) broker: String,
    #[command(flatten)]
    pub(super) setup: SetupArgs,
    /// How events travel: `binary`, with their attributes as headers, or `structured`, as one CloudEvents document each
    #[arg(long, value_name = "MODE", default_value = "binary", value_parser = content_mode)]
    pub(super) content_mode: ContentMode,
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
    #[command(flatten)]
    pub(super) kept: KeepArgs,
    /// The most keys that may wait before the relay reads no further [default: 100000]
    #[arg(long, value_name = "N")]
    pub(super) waiting_keys_max: Option<u64>,
}

impl RelayArgs {
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
    Replay {
        #[command(flatten)]
        request: RequestArgs,
        /// Why, for the audit log
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        why: String,
    },
    /// Asks that they be removed for good; their keys go on
    Discard {
        #[command(flatten)]
        request: RequestArgs,
        /// Why, for the audit log
        #[arg(long, value_name = "TEXT", required = true)]
        why: String,
    },
    /// Takes back what was asked and has not been acted on yet: it stops a replay at a limited rate
    Cancel {
        #[command(flatten)]
        request: RequestArgs,
        /// Why, for the audit log
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        why: String,
    },
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
    discard: bool,
    /// Who discards them, for the audit log
    #[arg(long, value_name = "NAME", env = "USER", hide_env = true, default_value = "unknown")]
    by: String,
    /// Why, for the audit log
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    why: String,
}

impl ForgetArgs {
    /// On what terms the events that it holds or has set aside are discarded, if they are.
    pub(super) fn terms(&self) -> Option<Terms> {
        self.discard.then(|| Terms::new(&self.by, &self.why))
    }
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
    },
    /// Takes them back for good; says so where it is too late, and ends with 1 then
    Cancel {
        /// Their ids, as `list` gives them
        #[arg(value_name = "EVENT", required = true)]
        ids: Vec<EventId>,
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
    /// Only counts those that match, by stage, type, version and reason
    #[arg(long)]
    pub(super) dry_run: bool,
    /// How many are acted on in a second, over all processes; as fast as they go by default
    #[arg(long, value_name = "N")]
    pub(super) per_second: Option<NonZeroU32>,
    /// Who asks, for the audit log
    #[arg(long, value_name = "NAME", env = "USER", hide_env = true, default_value = "unknown")]
    pub(super) by: String,
}

#[derive(Debug, Subcommand)]
pub(super) enum ReplayCommand {
    /// Asks for it; the process that leads the stage takes the events up, beside live traffic
    Start(Box<ReplayArgs>),
    /// Lists those that were asked for and how far they are, the newest first
    List {
        /// The most to list
        #[arg(long, value_name = "N", default_value_t = 20)]
        max: u32,
    },
    /// Takes back the rest of one that is running
    Cancel {
        /// Its number, as `list` gives it
        #[arg(value_name = "ID")]
        id: i64,
    },
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("to").required(true).args(["relay", "consumer"])))]
pub(super) struct ReplayArgs {
    /// To this relay, which publishes them once more, under fresh message ids
    #[arg(long, value_name = "NAME")]
    relay: Option<String>,
    /// To this consumer, which must read the log of this database
    #[arg(long, value_name = "NAME")]
    consumer: Option<String>,
    /// From this sequence number on
    #[arg(long, value_name = "SEQ")]
    from: Option<i64>,
    /// Up to this sequence number
    #[arg(long, value_name = "SEQ")]
    through: Option<i64>,
    /// Written at this time or later: `2026-01-31T08:00:00Z`, or an age such as `2h`
    #[arg(long, value_name = "TIME", value_parser = moment::moment)]
    since: Option<OffsetDateTime>,
    /// Written before this time
    #[arg(long, value_name = "TIME", value_parser = moment::moment)]
    until: Option<OffsetDateTime>,
    /// Of this topic; may be given several times
    #[arg(long = "topic", value_name = "TOPIC")]
    topics: Vec<String>,
    /// Of this type; may be given several times
    #[arg(long = "type", value_name = "TYPE")]
    event_types: Vec<String>,
    /// Of this partition key
    #[arg(long)]
    key: Option<String>,
    /// Publishes them to this topic instead of their own
    #[arg(long, value_name = "TOPIC", conflicts_with = "consumer", value_parser = topic)]
    to_topic: Option<String>,
    /// Has the consumer handle again what it has handled before
    #[arg(long, conflicts_with = "relay")]
    again: bool,
    /// Takes everything that the log still has when no condition is given
    #[arg(long)]
    all: bool,
    /// Only counts
    #[arg(long)]
    pub(super) dry_run: bool,
    /// How many are taken up in a second
    #[arg(long, value_name = "N", default_value = "100")]
    per_second: NonZeroU32,
    /// Who asks
    #[arg(long, value_name = "NAME", env = "USER", hide_env = true, default_value = "unknown")]
    by: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    why: String,
}

impl ReplayArgs {
    /// The range; without a condition it takes `--all`, so that a forgotten one does not reach everything.
    pub(super) fn range(&self) -> Result<Range, Failure> {
        let stage = match (&self.relay, &self.consumer) {
            (Some(name), _) => Stage::relay(name),
            (_, Some(name)) => Stage::consumer(name),
            _ => return Err(Failure::Usage("name a relay or a consumer".to_owned())),
        };
        let has_place = self.from.is_some() || self.through.is_some();
        let has_time = self.since.is_some() || self.until.is_some();
        let has_kind = !self.topics.is_empty() || !self.event_types.is_empty() || self.key.is_some();
        if !(has_place || has_time || has_kind || self.all) {
            return Err(Failure::Usage(
                "no condition is given; add one, such as `--since`, or `--all` for the whole log".to_owned(),
            ));
        }
        let mut range = Range::to(stage);
        range.from = self.from.map(Seq);
        range.through = self.through.map(Seq);
        range.since = self.since;
        range.until = self.until;
        range.topics.clone_from(&self.topics);
        range.event_types.clone_from(&self.event_types);
        range.key.clone_from(&self.key);
        range.to_topic.clone_from(&self.to_topic);
        range.again = self.again;
        Ok(range)
    }

    /// On what terms it is asked.
    pub(super) fn terms(&self) -> Terms {
        Terms::new(&self.by, &self.why).per_second(self.per_second)
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct AuditArgs {
    /// Of this stage: `relay/NAME` or `consumer/NAME`
    #[arg(long, value_parser = stage)]
    pub(super) stage: Option<Stage>,
    /// Of this event
    #[arg(long, value_name = "UUID")]
    pub(super) event: Option<EventId>,
    /// Done at this time or later: `2026-01-31T08:00:00Z`, or an age such as `2h`
    #[arg(long, value_name = "TIME", value_parser = moment::moment)]
    pub(super) since: Option<OffsetDateTime>,
}

/// Which dead letters: those that match every condition.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct FilterArgs {
    /// Of this number; may be given several times
    #[arg(long = "id", value_name = "ID")]
    pub(super) ids: Vec<i64>,
    /// Of this event; it may be a dead letter of several stages
    #[arg(long, value_name = "UUID")]
    pub(super) event: Option<EventId>,
    /// Of this stage: `relay/NAME` or `consumer/NAME`
    #[arg(long, value_parser = stage)]
    pub(super) stage: Option<Stage>,
    /// Of this consumer: short for `--stage consumer/NAME`
    #[arg(long, value_name = "NAME", conflicts_with = "stage")]
    pub(super) consumer: Option<String>,
    /// Of this event type
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) event_type: Option<String>,
    /// Of this version of its type
    #[arg(long = "version", value_name = "N")]
    pub(super) event_version: Option<u32>,
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
        let Self { ids, event, stage, consumer, event_type, event_version, key, reason, since, until } = self;
        let stage = stage.or_else(|| consumer.as_deref().map(Stage::consumer));
        DeadLetterFilter {
            ids,
            stage,
            event,
            event_type,
            event_version,
            key,
            reason,
            since,
            until,
            after: None,
        }
    }
}

impl RequestArgs {
    /// The filter; without a condition it takes `--all`, so that a forgotten one does not reach everything.
    pub(super) fn filter(&self) -> Result<DeadLetterFilter, Failure> {
        let filter = self.filter.clone().filter();
        if filter == DeadLetterFilter::default() && !self.all {
            return Err(Failure::Usage(
                "no condition is given; add one, such as `--id`, or `--all` for every dead letter".to_owned(),
            ));
        }
        Ok(filter)
    }

    /// On what terms it is asked.
    pub(super) fn terms(&self, why: String) -> Terms {
        let terms = Terms::new(&self.by, why);
        match self.per_second {
            Some(most) => terms.per_second(most),
            None => terms,
        }
    }
}

fn stage(text: &str) -> Result<Stage, String> {
    match text.split_once('/') {
        Some(("relay", name)) if !name.is_empty() => Ok(Stage::relay(name)),
        Some(("consumer", name)) if !name.is_empty() => Ok(Stage::consumer(name)),
        _ => Err("write `relay/NAME` or `consumer/NAME`".to_owned()),
    }
}

/// A name that every broker takes.
fn topic(text: &str) -> Result<String, String> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    match !text.is_empty() && text.len() <= 100 && text.chars().all(is_allowed) {
        true => Ok(text.to_owned()),
        false => Err("a topic is of `a` to `z`, `0` to `9`, `_` and `-`, 100 at most".to_owned()),
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

fn content_mode(text: &str) -> Result<ContentMode, String> {
    match text {
        "binary" => Ok(ContentMode::Binary),
        "structured" => Ok(ContentMode::Structured),
        _ => Err("write `binary` or `structured`".to_owned()),
    }
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
