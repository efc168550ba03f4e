//! The rules of a store: what a commit publishes, what a fence stops, what a claim lets through, and how a key waits.

mod asking;
mod claiming;
mod holding;
mod leading;
mod pairing;
mod reading;
mod scheduling;

use crate::{
    cursor::{Filter, LogCursor, Page, Settled, Start},
    dead_letter::Terms,
    envelope::{Envelope, EventId, Headers, NewEvent},
    held::{Failure, Share, Stage},
    lease::{Fence, Owner},
    store::Store,
};
use outbox_schema::OnPoison;
use std::time::Duration;

/// Longer than any suite runs.
const LONG: Duration = Duration::from_secs(600);

macro_rules! rules {
    ($fresh:ident: $($module:ident::$rule:ident),* $(,)?) => {
        $(
            println!("{}: {}", S::NAME, stringify!($rule));
            // Boxed: all rules in one future would be too much for the stack of a test.
            Box::pin($module::$rule($fresh().await)).await;
        )*
    };
}

/// Checks every rule, each on a store of its own: `fresh` gives one with tables and without events.
///
/// # Panics
/// When a rule is broken.
pub async fn check<S: Store>(fresh: impl AsyncFn() -> S) {
    rules! {
        fresh:
        reading::a_rolled_back_transaction_publishes_nothing,
        reading::an_event_is_read_as_it_was_written,
        reading::events_of_one_batch_keep_their_order,
        reading::what_is_settled_is_not_read_again,
        reading::what_is_not_settled_is_read_again,
        reading::a_filter_hides_rows_without_holding_the_others_up,
        reading::a_filter_by_headers_wants_each_of_them_with_its_value,
        reading::a_stage_starts_at_the_seq_it_is_given,
        reading::a_stage_starts_at_the_time_it_is_given,
        reading::a_stage_that_starts_at_latest_sees_only_what_comes_after,
        reading::stages_settle_apart,
        reading::state_tells_where_an_event_stands,
        leading::a_lease_has_one_owner_until_it_runs_out,
        leading::a_released_lease_is_taken_at_once,
        leading::a_lease_that_is_kept_keeps_its_epoch,
        leading::an_owner_that_lost_its_lease_writes_nothing,
        leading::what_a_leader_has_in_work_is_told_to_its_successor_and_fenced,
        leading::members_are_counted_until_their_time_is_up,
        claiming::an_event_is_claimed_once,
        claiming::an_event_set_aside_is_not_claimed_before_a_person_asks_for_it,
        claiming::a_rolled_back_claim_is_claimed_again,
        claiming::a_commit_that_begins_the_next_transaction_stands_without_it,
        claiming::two_deliveries_at_once_are_one_claim,
        claiming::consumers_claim_apart,
        claiming::an_event_of_another_source_is_another_event,
        claiming::an_event_older_than_the_window_is_not_claimed,
        claiming::an_event_of_a_key_that_waits_is_not_claimed,
        pairing::the_half_that_comes_first_is_claimed_and_the_other_is_its_duplicate,
        pairing::both_halves_at_once_are_one_claim,
        pairing::a_rolled_back_half_leaves_the_other_to_be_claimed,
        pairing::an_event_that_names_itself_as_its_twin_is_claimed,
        pairing::a_half_keeps_its_twin_while_it_is_held_and_set_aside,
        pairing::who_discards_one_half_discards_both,
        pairing::a_half_that_is_a_dead_letter_of_its_own_outlives_the_discard_of_the_other,
        holding::a_key_waits_until_its_head_is_due,
        holding::only_the_head_of_a_key_is_due,
        holding::a_key_goes_on_when_its_head_is_done,
        holding::a_retry_keeps_the_head_and_its_attempts,
        holding::an_event_held_twice_is_held_once,
        holding::a_skipped_event_lets_its_key_go_on,
        holding::a_parked_key_waits_for_a_request,
        holding::a_replayed_event_goes_before_those_behind_it,
        holding::a_replay_that_fails_keeps_the_history,
        holding::a_discarded_event_lets_its_key_go_on,
        holding::a_parked_key_stays_parked_when_another_event_of_it_is_replayed,
        holding::a_discard_and_a_replay_in_one_key_are_acted_on_together,
        holding::a_replay_in_a_parked_key_lets_no_event_before_it_go_on,
        holding::an_event_set_aside_that_comes_again_waits_for_a_request,
        holding::a_discard_ends_a_replay,
        holding::a_request_is_recorded_once,
        holding::changes_and_progress_are_written_together,
        holding::status_counts_each_stage,
        asking::each_condition_chooses_and_counts_the_same_dead_letters,
        asking::dead_letters_are_paged,
        asking::counts_tell_what_a_request_would_reach,
        asking::a_limited_rate_holds_over_all_leaders,
        asking::what_is_asked_can_be_taken_back_until_it_is_acted_on,
        asking::the_audit_log_tells_who_did_what_when_and_why,
    }
    check_scheduling(&fresh).await;
}

/// The rules of events that wait for their time.
async fn check_scheduling<S: Store>(fresh: &impl AsyncFn() -> S) {
    rules! {
        fresh:
        scheduling::a_scheduled_event_enters_the_log_when_it_is_due_and_unchanged,
        scheduling::events_enter_the_log_in_the_order_in_which_they_are_due,
        scheduling::an_event_that_was_scheduled_in_a_rolled_back_transaction_never_was,
        scheduling::an_event_is_taken_back_until_it_is_due,
        scheduling::an_event_becomes_due_by_the_clock_of_the_database,
        scheduling::a_pair_is_moved_and_taken_back_as_one,
        scheduling::an_owner_that_lost_upkeep_moves_nothing,
        scheduling::scheduled_events_are_filtered_and_paged,
    }
}

/// An event of topic `orders` whose payload is `number`.
fn event(key: Option<&str>, number: u32) -> NewEvent {
    NewEvent {
        id: EventId::now(),
        source: "/conformance".to_owned(),
        topic: "orders".to_owned(),
        key: key.map(str::to_owned),
        event_type: "orders.placed".to_owned(),
        event_version: 1,
        payload: format!(r#"{{"eventType":"orders.placed","eventVersion":1,"number":{number}}}"#),
        dataschema: "urn:outbox:orders.placed:1".to_owned(),
        headers: Headers::new(),
        traceparent: None,
        tracestate: None,
        twin: None,
        on_poison: OnPoison::Park,
    }
}

async fn publish<S: Store>(store: &S, events: &[NewEvent]) {
    let mut tx = store.begin().await.expect("a transaction begins");
    store.insert(S::connection(&mut tx), events).await.expect("events are written");
    store.commit(tx).await.expect("a transaction commits");
}

/// The fence of a new leader of that stage.
async fn lead<S: Store>(store: &S, stage: &Stage) -> Fence {
    lead_for(store, stage, LONG).await
}

async fn lead_for<S: Store>(store: &S, stage: &Stage, ttl: Duration) -> Fence {
    let fence = Fence { stage: stage.clone(), share: Share::default(), owner: Owner::new(), epoch: 0 };
    let epoch = store.acquire(&fence.lease(), fence.owner, ttl).await.expect("a lease can be asked for");
    Fence { epoch: epoch.expect("the lease is free"), ..fence }
}

/// The log for a leader that wants every event from the first one.
async fn open<S: Store>(store: &S, fence: &Fence) -> S::Log {
    store.open_log(fence, Filter::default(), Start::Earliest).await.expect("the log opens")
}

/// What one look finds.
async fn read<S: Store>(log: &mut S::Log) -> Page {
    log.read(100).await.expect("the log is read")
}

async fn settle<S: Store>(log: &mut S::Log, fence: &Fence, page: &Page) {
    let settled = Settled { through: page.through, late: Vec::new() };
    log.settle(fence, &settled, &[]).await.expect("the page is settled");
}

fn events_of(page: &Page) -> Vec<NewEvent> {
    page.events.iter().map(|read| read.envelope.event.clone()).collect()
}

/// Writes the events and reads them back.
async fn envelopes<S: Store>(store: &S, fence: &Fence, events: &[NewEvent]) -> Vec<Envelope> {
    publish(store, events).await;
    let mut log = open(store, fence).await;
    let page = read::<S>(&mut log).await;
    settle::<S>(&mut log, fence, &page).await;
    page.events.into_iter().map(|read| read.envelope).collect()
}

fn failure(reason: &'static str) -> Failure {
    Failure { reason, error_chain: format!("{reason}\nbecause it was tested") }
}

fn terms() -> Terms {
    Terms::new("ann", "it was tested")
}
