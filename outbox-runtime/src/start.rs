//! What a runner refuses to start with, each with the place to change.

use crate::{
    broker::{Broker, BrokerError},
    consumer::{HandlerEntry, States},
    pause::Pauses,
    store::{Store, StoreError},
};
use outbox_schema::{Catalog, CatalogError, ConsumedEvent, ConsumerEntry, Contract, OrderingMode};
use std::{any::TypeId, collections::BTreeSet, time::Duration};
use tokio::time::{Instant, error::Elapsed, sleep_until, timeout_at};

/// What every call gets, however short the patience is.
const ANSWER_MIN: Duration = Duration::from_secs(1);

/// Why a runner did not start, or had to stop. Nothing is left running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The catalog is empty or names one thing twice.
    #[error("the catalog of this program cannot be used")]
    Catalog(#[from] CatalogError),
    /// Consumers or events that cannot work here, a line each with file and line.
    #[error("{}", .0.join("\n"))]
    Consumers(Vec<String>),
    /// The database is not reachable or not ready.
    #[error("the database is not ready")]
    Store(#[source] StoreError),
    /// The broker is not reachable or not ready.
    #[error("the broker is not ready")]
    Broker(#[source] BrokerError),
    /// A stage stopped for a reason that a person must mend.
    #[error("`{stage}` stopped")]
    Stage {
        /// The relay or consumer.
        stage: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Two relays of one name would share their progress, so each would miss what the other published.
    #[error("two relays are named `{name}`; give each relay a name of its own")]
    RelayTwice {
        /// The name.
        name: String,
    },
    /// The role of this process may not clear the log, or not move what is due.
    #[error(
        "this role may not keep the tables up; use one with the rights of a relay (`PostgresStore::grant`)"
    )]
    MayNotKeep,
    /// Nothing was configured to run.
    #[error(
        "there is nothing to run: add a relay, run the consumers with `consume_locally` or `consume_from`, or keep the tables \
         up with `upkeep`"
    )]
    Nothing,
}

/// Calls the database until it succeeds, the error is for good, or the deadline is over.
pub(crate) async fn wait_for_store<T, F>(deadline: Instant, call: impl FnMut() -> F) -> Result<T, RunError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let silent = |elapsed: Elapsed| StoreError::Database {
        action: "answer in time",
        transient: true,
        source: Box::new(elapsed),
    };
    patiently(deadline, call, StoreError::is_transient, silent).await.map_err(RunError::Store)
}

/// Calls a broker until it succeeds, the error is for good, or the deadline is over.
pub(crate) async fn wait_for_broker<T, F>(
    deadline: Instant,
    broker: &dyn Broker,
    call: impl FnMut() -> F,
) -> Result<T, RunError>
where
    F: Future<Output = Result<T, BrokerError>>,
{
    let silent = |elapsed: Elapsed| BrokerError::Unavailable {
        broker: broker.capabilities().name,
        action: "answer in time",
        source: Box::new(elapsed),
    };
    patiently(deadline, call, BrokerError::is_transient, silent).await.map_err(RunError::Broker)
}

/// Gives the last error that had a reason. A call that answers nothing does not outlast the deadline either.
async fn patiently<T, E, F>(
    deadline: Instant,
    mut call: impl FnMut() -> F,
    is_transient: impl Fn(&E) -> bool,
    silent: impl Fn(Elapsed) -> E,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    let mut pauses = Pauses::default();
    let mut last = None;
    loop {
        let answer_by = deadline.max(Instant::now() + ANSWER_MIN);
        match timeout_at(answer_by, call()).await {
            Ok(Err(error)) if is_transient(&error) && Instant::now() < deadline => last = Some(error),
            Ok(result) => return result,
            Err(elapsed) => return Err(last.unwrap_or_else(|| silent(elapsed))),
        }
        sleep_until(deadline.min(Instant::now() + pauses.next())).await;
    }
}

/// Tells of consumers whose events have an order that this broker does not keep.
pub(crate) fn warn_of_order(broker: &dyn Broker, handlers: &[&HandlerEntry]) -> Result<(), RunError> {
    let capabilities = broker.capabilities();
    if capabilities.ordered {
        return Ok(());
    }
    let catalog = Catalog::collect()?;
    let is_keyed = |taken: &ConsumedEvent| {
        catalog.events().iter().any(|event| {
            event.ordering == OrderingMode::Keyed
                && (event.event_type, event.event_version) == (taken.event_type, taken.event_version)
        })
    };
    let takers = handlers.iter().filter(|handler| handler.events().iter().any(is_keyed));
    let names: Vec<_> = takers.map(|handler| handler.entry.name).collect();
    if !names.is_empty() {
        tracing::warn!(
            broker = capabilities.name,
            consumers = names.join(", "),
            "the broker gives no order per key, so events of one key may be handled out of order; consume from one that \
             declares `ordered`, or declare the events `unordered` if no handler needs their order"
        );
    }
    Ok(())
}

/// The handlers that are to run here: all of the catalog but those run elsewhere.
pub(crate) fn handlers<S: Store>(
    only: Option<&BTreeSet<String>>,
    elsewhere: &BTreeSet<String>,
    states: &States,
) -> Result<Vec<&'static HandlerEntry>, RunError> {
    // Duplicate names are found here, and an empty catalog.
    let catalog = Catalog::collect()?.not_empty()?;
    let mut entries: Vec<&'static HandlerEntry> = inventory::iter::<HandlerEntry>.into_iter().collect();
    entries.sort_by_key(|handler| handler.entry.name);
    let mut problems = unknown_names(only, elsewhere, &entries);
    // What no derive can see: a flattened struct that brings a member of our names.
    problems.extend(
        catalog.events().iter().filter_map(|event| Contract::of(event).err()).map(|error| error.to_string()),
    );
    let mut chosen = Vec::new();
    for handler in entries {
        let name = handler.entry.name;
        if elsewhere.contains(name) {
            continue;
        }
        if only.is_some_and(|only| !only.contains(name)) {
            problems.push(format!(
                "{} is linked here and neither run nor listed as run elsewhere; add it to `only` or to `elsewhere`",
                place(&handler.entry)
            ));
            continue;
        }
        problems.extend(misfits::<S>(handler, states));
        chosen.push(handler);
    }
    if chosen.is_empty() && problems.is_empty() {
        problems.push(
            "no consumer is linked into this program; write `use my_consumers as _;` in the file with `main`"
                .into(),
        );
    }
    if problems.is_empty() { Ok(chosen) } else { Err(RunError::Consumers(problems)) }
}

fn unknown_names(
    only: Option<&BTreeSet<String>>,
    elsewhere: &BTreeSet<String>,
    entries: &[&'static HandlerEntry],
) -> Vec<String> {
    only.into_iter()
        .flatten()
        .chain(elsewhere)
        .filter(|name| !entries.iter().any(|handler| handler.entry.name == name.as_str()))
        .map(|name| {
            format!("no consumer `{name}` is linked into this program; correct the name or link its crate")
        })
        .collect()
}

fn misfits<S: Store>(handler: &HandlerEntry, states: &States) -> Vec<String> {
    let place = place(&handler.entry);
    let mut problems = Vec::new();
    if let Some(transaction) = handler.transaction
        && (transaction.id)() != TypeId::of::<S::Tx>()
    {
        problems.push(format!(
            "{place} takes `{}`, but this outbox is on {}; take that database's transaction, or none",
            (transaction.name)(),
            S::NAME
        ));
    }
    for state in (handler.states)() {
        if !states.has(state) {
            let name = (state.name)();
            problems.push(format!(
                "{place} takes `State<{name}>`, which nobody gave; add `.state(…)` to the runner"
            ));
        }
    }
    problems
}

fn place(entry: &ConsumerEntry) -> String {
    format!("consumer `{}` at {}:{}", entry.name, entry.file, entry.line)
}
