//! Removes a stage that nobody runs.

use super::{
    SqliteStore,
    row::{database, get},
    statements::on_table,
    transaction,
};
use crate::{
    dead_letter::Terms,
    held::Stage,
    store::{Forgetting, StoreError},
};
use sqlx::SqliteConnection;

/// The tables with rows of a stage, and those with rows of its leases.
const OF_STAGE: [&str; 6] = ["progress", "waiting", "held", "dead_letter", "member", "replay"];
const OF_LEASE: [&str; 2] = ["marker", "leader"];

const ACTION: &str = "forget a stage";

pub(super) async fn forget(
    store: &SqliteStore,
    stage: &Stage,
    discard: Option<&Terms>,
) -> Result<Forgetting, StoreError> {
    let statements = &store.statements;
    let mut tx = transaction::begin(store).await?;
    let is_led = sqlx::query_scalar(statements.is_led.clone())
        .bind(stage.as_str())
        .fetch_one(&mut *tx)
        .await
        .map_err(database(ACTION))?;
    if is_led {
        return Ok(Forgetting::Led);
    }
    let row = sqlx::query(statements.count_undelivered.clone())
        .bind(stage.as_str())
        .fetch_one(&mut *tx)
        .await
        .map_err(database(ACTION))?;
    let count = |column| get::<i64>(&row, column).map(i64::cast_unsigned);
    let (held, dead_letters) = (count("held")?, count("dead_letters")?);
    if !get::<bool>(&row, "is_known")? {
        return Ok(Forgetting::Unknown);
    }
    match discard {
        None if held + dead_letters > 0 => return Ok(Forgetting::Holds { held, dead_letters }),
        None => {}
        Some(terms) => audit(store, &mut tx, stage, terms).await?,
    }
    remove(&mut tx, statements.delete_requests_of_stage.clone(), stage).await?;
    let of_stage = OF_STAGE.map(|table| (include_str!("sql/delete_of_stage.sql"), table));
    let of_lease = OF_LEASE.map(|table| (include_str!("sql/delete_of_lease.sql"), table));
    for (text, table) in of_stage.into_iter().chain(of_lease) {
        remove(&mut tx, on_table(&statements.prefix, text, table), stage).await?;
    }
    tx.commit().await.map_err(database(ACTION))?;
    tracing::warn!(
        stage = stage.as_str(),
        held,
        dead_letters,
        "forgotten, with the events it had not delivered"
    );
    Ok(Forgetting::Forgotten { held, dead_letters })
}

async fn remove(
    connection: &mut SqliteConnection,
    statement: sqlx::SqlStr,
    stage: &Stage,
) -> Result<(), StoreError> {
    let query = sqlx::query(statement).bind(stage.as_str().to_owned());
    query.execute(connection).await.map_err(database(ACTION))?;
    Ok(())
}

/// Tells of everything that is discarded, before it is.
async fn audit(
    store: &SqliteStore,
    connection: &mut SqliteConnection,
    stage: &Stage,
    terms: &Terms,
) -> Result<(), StoreError> {
    let query = sqlx::query(store.statements.insert_forgotten.clone())
        .bind(stage.as_str())
        .bind(&terms.asked_by)
        .bind(&terms.why);
    query.execute(connection).await.map_err(database(ACTION))?;
    Ok(())
}
