//! Removes a stage that nobody runs.

use super::{PostgresStore, error::during, row::free_of_nul, transaction::commit_own};
use crate::{
    dead_letter::Terms,
    held::Stage,
    store::{Forgetting, StoreError},
};
use sqlx::PgConnection;

/// The tables with rows of a stage, and those with rows of its leases. Requests go with their dead letters.
const OF_STAGE: [&str; 7] = ["progress", "hole", "waiting", "held", "dead_letter", "member", "replay"];
const OF_LEASE: [&str; 3] = ["marker", "leader", "heartbeat"];

const ACTION: &str = "forget a stage";

pub(super) async fn forget(
    store: &PostgresStore,
    stage: &Stage,
    discard: Option<&Terms>,
) -> Result<Forgetting, StoreError> {
    let begin = store.sql().begin_write.clone();
    let mut tx = store.pool().begin_with(begin).await.map_err(during(ACTION))?;
    // Locked to the end: who wants to lead it now waits, and begins anew.
    let leases: Vec<bool> = sqlx::query_scalar(store.sql().lock_heartbeats.clone())
        .bind(stage.as_str())
        .fetch_all(&mut *tx)
        .await
        .map_err(during(ACTION))?;
    if leases.contains(&true) {
        return Ok(Forgetting::Led);
    }
    let (held, dead_letters, is_known): (i64, i64, bool) =
        sqlx::query_as(store.sql().count_undelivered.clone())
            .bind(stage.as_str())
            .fetch_one(&mut *tx)
            .await
            .map_err(during(ACTION))?;
    let (held, dead_letters) = (held.cast_unsigned(), dead_letters.cast_unsigned());
    if !is_known && leases.is_empty() {
        return Ok(Forgetting::Unknown);
    }
    match discard {
        None if held + dead_letters > 0 => return Ok(Forgetting::Holds { held, dead_letters }),
        None => {}
        Some(terms) => audit(store, &mut tx, stage, terms).await?,
    }
    let of_stage = OF_STAGE.map(|table| (include_str!("sql/delete_of_stage.sql"), table));
    let of_lease = OF_LEASE.map(|table| (include_str!("sql/delete_of_lease.sql"), table));
    for (text, table) in of_stage.into_iter().chain(of_lease) {
        sqlx::query(store.sql().on_table(text, table))
            .bind(stage.as_str())
            .execute(&mut *tx)
            .await
            .map_err(during(ACTION))?;
    }
    commit_own(tx).await?;
    tracing::warn!(
        stage = stage.as_str(),
        held,
        dead_letters,
        "forgotten, with the events it had not delivered"
    );
    Ok(Forgetting::Forgotten { held, dead_letters })
}

/// Tells of everything that is discarded, before it is.
async fn audit(
    store: &PostgresStore,
    connection: &mut PgConnection,
    stage: &Stage,
    terms: &Terms,
) -> Result<(), StoreError> {
    let query = sqlx::query(store.sql().insert_forgotten.clone())
        .bind(stage.as_str())
        .bind(free_of_nul(&terms.asked_by))
        .bind(free_of_nul(&terms.why));
    query.execute(connection).await.map_err(during(ACTION))?;
    Ok(())
}
