//! Mends the numbering of the log after a restore, a promotion, or a hand that changed it.

use super::{PostgresStore, error::during, migrate, transaction::commit_own};
use crate::{envelope::Seq, held::Stage, store::StoreError};

/// Numbers go on at the next multiple of this, far above any that a reader of a lost future can have seen.
const JUMP: i64 = 1_000_000_000_000_000;

/// What [`PostgresStore::repair`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The seq of the next event.
    pub next_seq: Seq,
    /// The stages that read the whole log again, because they had settled numbers that were yet to be given.
    pub rereading: Vec<Stage>,
}

impl PostgresStore {
    /// Makes the sequence and the default of `seq` what the order of the log needs, and moves the numbers of new events to
    /// the next multiple of 10^15, above every one that was given, stored or settled.
    ///
    /// Run it under the owner's role after a restore from a backup or a promotion, and when a precondition is refused. It
    /// waits for all who write events, and they wait for it. Safe to repeat.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was changed.
    ///
    /// # Cancel safety
    /// If dropped, it is done or not done.
    pub async fn repair(&self) -> Result<Repaired, StoreError> {
        let action = "repair the numbers of the log";
        let mut tx = migrate::begin(self).await?;
        for statement in [&self.sql().lock_log, &self.sql().alter_sequence, &self.sql().alter_seq_default] {
            sqlx::query(statement.clone()).execute(&mut *tx).await.map_err(during(action))?;
        }
        let (given, in_log, settled): (i64, Option<i64>, Option<i64>) =
            sqlx::query_as(self.sql().select_last_numbers.clone())
                .fetch_one(&mut *tx)
                .await
                .map_err(during(action))?;
        let highest = [given, in_log.unwrap_or(given), settled.unwrap_or(given)].into_iter().max();
        let next = (highest.expect("three numbers were compared") / JUMP + 1) * JUMP;
        sqlx::query(self.sql().restart_sequence(next)).execute(&mut *tx).await.map_err(during(action))?;
        let rereading: Vec<String> = sqlx::query_scalar(self.sql().reset_progress.clone())
            .bind(given)
            .bind(Seq::ORIGIN.0)
            .fetch_all(&mut *tx)
            .await
            .map_err(during(action))?;
        commit_own(tx).await?;
        Ok(Repaired { next_seq: Seq(next), rereading: rereading.into_iter().map(Stage::from_text).collect() })
    }
}
