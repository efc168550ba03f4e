//! Every SQL statement of this store, with the names of the configured tables filled in.
//!
//! Besides `{outbox_x}`, the quoted and qualified name of a table, the files write `{outbox_x:text}` for that name as a
//! string literal, `{outbox_schema:alone}` and `{outbox_schema:alone_text}` for the schema, and `{outbox_x:number}` for
//! a number of the configuration.

use super::config::PostgresConfig;
use crate::store::sql::{fill, quote_identifier};
use sqlx::SqlStr;
use std::{collections::HashMap, sync::Mutex, time::Duration};

/// Makes the struct and its constructor: the field `x` is the file `sql/x.sql`.
macro_rules! statements {
    ($($name:ident),* $(,)?) => {
        #[derive(Debug)]
        pub(super) struct Statements {
            config: PostgresConfig,
            handlers: Mutex<HashMap<Duration, Handler>>,
            $(pub(super) $name: SqlStr,)*
        }

        impl Statements {
            pub(super) fn new(config: &PostgresConfig) -> Self {
                Self {
                    config: config.clone(),
                    handlers: Mutex::default(),
                    $($name: filled(config, include_str!(concat!("sql/", stringify!($name), ".sql"))),)*
                }
            }

            /// The name and the text of each file.
            pub(super) fn texts(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($name), self.$name.as_str().to_owned())),*]
            }
        }
    };
}

statements! {
    acquire_lease,
    advance_lane,
    alter_seq_default,
    alter_sequence,
    alter_slot_default,
    begin_clearing,
    begin_migration,
    begin_write,
    cancel_requests,
    cancel_replay,
    cancel_scheduled,
    claim_event,
    claim_fresh,
    count_dead_letters,
    count_undelivered,
    count_waiting,
    create_schema,
    create_version,
    delete_audit,
    delete_dead_letter,
    delete_held,
    delete_holes,
    delete_inbox,
    delete_progress,
    delete_replays,
    delete_requests,
    examine_prepared,
    examine_rights,
    examine_slots,
    examine_stages,
    examine_transactions,
    examine_upkeep,
    expire_dead_letters,
    find_objects,
    forget_handled,
    hold_dead_letter,
    insert_dead_letter,
    insert_discarded_twin,
    insert_event,
    insert_events,
    insert_forgotten,
    insert_held,
    insert_holes,
    insert_pair,
    insert_requests,
    insert_replay,
    insert_scheduled,
    insert_version,
    is_leader,
    is_lease_taken,
    join_stage,
    leave_stage,
    lift_lanes,
    limit_lock_wait,
    load_progress,
    lock_fence,
    lock_leader,
    lock_heartbeats,
    lock_lanes,
    lock_log,
    lock_replay,
    lock_writers,
    may_keep,
    move_scheduled,
    notify,
    plan_range,
    postpone_requests,
    prove_and_commit,
    prove_handler,
    read_holes,
    read_log,
    read_log_filtered,
    read_replay,
    register_at_latest,
    register_at_seq,
    register_at_time,
    release_lease,
    renew_leases,
    reset_progress,
    select_audit,
    select_dead_letters,
    select_debezium,
    select_due_heads,
    select_handled,
    select_due_in,
    select_last_given,
    select_last_numbers,
    select_marker,
    select_number_holders,
    select_old_leaf,
    select_requests,
    select_replays,
    select_scheduled,
    select_sequence,
    select_state,
    select_status,
    select_topics,
    select_version,
    select_waiting,
    set_session,
    settle_log,
    try_migration_lock,
    update_held,
    update_replay,
    update_slot_secs,
    update_version,
    upsert_marker,
}

/// What begins the transaction of a handler with one time limit.
#[derive(Debug)]
struct Handler {
    begin: SqlStr,
    commit_and_begin: SqlStr,
}

/// The statements with a value that is known only when they run, and that the server takes in the text alone.
impl Statements {
    /// Begins a handler's transaction of that time limit.
    pub(super) fn begin_handler(&self, timeout: Duration) -> SqlStr {
        self.of_handler(timeout, |handler| handler.begin.clone())
    }

    /// Commits a transaction, and begins a handler's of that time limit.
    pub(super) fn commit_and_begin(&self, timeout: Duration) -> SqlStr {
        self.of_handler(timeout, |handler| handler.commit_and_begin.clone())
    }

    /// Filled in once for each time limit, of which a program has few, and not for each event.
    fn of_handler(&self, timeout: Duration, text: fn(&Handler) -> SqlStr) -> SqlStr {
        let mut handlers = self.handlers.lock().expect("no panic holds this lock");
        text(handlers.entry(timeout).or_insert_with(|| {
            let begin = include_str!("sql/begin_handler.sql");
            let filled = |text: &str| self.with(text, "timeout_ms:number", &millis(timeout));
            Handler { begin: filled(begin), commit_and_begin: filled(&format!("COMMIT;\n{begin}")) }
        }))
    }

    /// Moves the sequence to `seq`.
    pub(super) fn restart_sequence(&self, seq: i64) -> SqlStr {
        self.with(include_str!("sql/restart_sequence.sql"), "restart:number", &seq.to_string())
    }

    /// A statement on the leaf of the log of that slot.
    pub(super) fn on_leaf(&self, text: &str, slot: i16) -> SqlStr {
        self.with(text, "leaf", &value(&self.config, &format!("log_{slot}")))
    }

    /// A statement on that table.
    pub(super) fn on_table(&self, text: &str, table: &str) -> SqlStr {
        self.with(text, "table", &value(&self.config, table))
    }

    /// Grants to the database role `name`.
    pub(super) fn grants(&self, text: &str, name: &str) -> SqlStr {
        self.with(text, "role:name", &quote_identifier(name))
    }

    /// A script without such a value.
    pub(super) fn script(&self, text: &str) -> SqlStr {
        filled(&self.config, text)
    }

    /// A script with values of the caller's.
    pub(super) fn filled_with(&self, text: &str, own: impl Fn(&str) -> Option<String>) -> SqlStr {
        fill(&without_comments(text), |found| own(found).unwrap_or_else(|| value(&self.config, found)))
    }

    fn with(&self, text: &str, name: &str, with: &str) -> SqlStr {
        self.filled_with(text, |found| (found == name).then(|| with.to_owned()))
    }
}

fn filled(config: &PostgresConfig, text: &str) -> SqlStr {
    fill(&without_comments(text), |name| value(config, name))
}

/// The comments are for readers of the files, not for the server.
fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("--")).collect::<Vec<_>>().join("\n")
}

/// What stands for the placeholder `{outbox_<name>}`.
fn value(config: &PostgresConfig, name: &str) -> String {
    let table = |name| {
        format!("{}.{}", quote_identifier(&config.schema), quote_identifier(&(config.prefix.clone() + name)))
    };
    match name.split_once(':') {
        None => table(name),
        Some((name, "text")) => quote_literal(&table(name)),
        Some(("schema", "alone")) => quote_identifier(&config.schema),
        Some(("schema", "alone_text")) => quote_literal(&config.schema),
        Some(("slot_secs", _)) => config.slot_secs().to_string(),
        Some(("idle_ms", _)) => millis(config.idle_in_transaction_max),
        Some(("lock_ms", _)) => millis(config.lock_wait_max),
        Some(_) => unreachable!("an SQL file has a placeholder without a value: {name}"),
    }
}

/// A time limit in the unit of PostgreSQL's settings, where zero would mean "no limit".
pub(super) fn millis(limit: Duration) -> String {
    limit.as_millis().clamp(1, i32::MAX as u128).to_string()
}

/// A string literal whose meaning does not depend on `standard_conforming_strings`.
fn quote_literal(text: &str) -> String {
    let text = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", text.replace('\\', "\\\\")) } else { format!("'{text}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_once_as_identifier_and_once_more_as_literal() {
        let config =
            PostgresConfig { schema: "o'\"x".into(), prefix: "P_".into(), ..PostgresConfig::default() };
        let filled = filled(
            &config,
            "{outbox_log} {outbox_log:text} {outbox_schema:alone_text} '{}' {outbox_slot_secs:number}",
        );
        assert_eq!(filled.as_str(), r#""o'""x"."P_log" '"o''""x"."P_log"' 'o''"x' '{}' 100800"#);
    }
}
