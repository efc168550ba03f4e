//! Every SQL statement of this store, with the table names filled in.

use crate::store::sql::{fill, quote_identifier};
use sqlx::SqlStr;

/// Makes the struct and its constructor: the field `x` is the file `sql/x.sql`.
macro_rules! statements {
    ($($name:ident),* $(,)?) => {
        #[derive(Debug)]
        pub(super) struct Statements {
            pub(super) prefix: String,
            $(pub(super) $name: SqlStr,)*
        }

        impl Statements {
            pub(super) fn new(prefix: &str) -> Self {
                Self {
                    prefix: prefix.to_owned(),
                    $($name: fill(include_str!(concat!("sql/", stringify!($name), ".sql")), |name| quote(prefix, name)),)*
                }
            }
        }
    };
}

statements! {
    acquire_lease,
    advance_lane,
    begin_immediate,
    cancel_replay,
    count_dead_letters,
    count_members,
    count_undelivered,
    count_waiting,
    create_meta,
    delete_audit,
    delete_dead_letter,
    delete_due,
    delete_held,
    delete_inbox,
    delete_log,
    delete_member,
    delete_replayed,
    delete_replays,
    delete_request,
    delete_requests_of_stage,
    delete_requests,
    delete_scheduled,
    examine_stages,
    examine_upkeep,
    expire_dead_letters,
    forget_handled,
    hold_dead_letter,
    insert_audit,
    insert_discarded_twin,
    insert_due,
    insert_event,
    insert_forgotten,
    insert_held,
    insert_inbox,
    insert_pair,
    insert_progress,
    insert_replay,
    insert_requests,
    insert_scheduled,
    insert_waiting,
    is_due,
    is_free,
    is_handled,
    is_lease_taken,
    is_led,
    is_older,
    lift_lane,
    mark_replaying,
    open_savepoint,
    plan_range,
    postpone_requests,
    read_replay,
    release_lease,
    release_savepoint,
    renew_leases,
    select_audit,
    select_before_time,
    select_dead_letters,
    select_due_heads,
    select_due_in,
    select_fence,
    select_last_due,
    select_last_given,
    select_latest,
    select_marker,
    select_meta,
    select_page,
    select_progress,
    select_replay,
    select_replays,
    select_requests,
    select_scheduled,
    select_state,
    select_status,
    select_topics,
    select_waiting,
    update_held,
    update_progress,
    update_replay,
    update_waiting,
    upsert_dead_letter,
    upsert_marker,
    upsert_member,
    upsert_meta,
}

/// A statement on that table.
pub(super) fn on_table(prefix: &str, text: &str, table: &str) -> SqlStr {
    fill(text, |name| quote(prefix, if name == "table" { table } else { name }))
}

/// The table or index `name` as an identifier; `<name>:text` as a text, for lookups in SQLite's own tables.
pub(super) fn quote(prefix: &str, name: &str) -> String {
    match name.strip_suffix(":text") {
        Some(name) => format!("'{}{name}'", prefix.replace('\'', "''")),
        None => quote_identifier(&format!("{prefix}{name}")),
    }
}
