//! Looking for what hurts in production, before it does.

use crate::{
    broker::Examination,
    enqueue::Outbox,
    finding::{Finding, Tolerance},
    store::{Store, StoreError},
};

impl<S: Store> Outbox<S> {
    /// Looks for what is wrong in the database, or will be: stages that nobody runs, keys that wait, numbers that cannot be
    /// trusted, transactions and slots that hold the server back, … Changes nothing. Without a finding the list is empty.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read; tables that are not fit for this build are a finding.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn examine(&self, tolerance: &Tolerance) -> Result<Vec<Finding>, StoreError> {
        self.store().examine(tolerance).await
    }

    /// What a broker of this database is to be examined for ([`Broker::examine`](crate::broker::Broker::examine)): the topics of
    /// the newest events, and the consumers that the database knows and that do not read its log. Both can be added to: consumers
    /// with a database of their own are not known here.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn examination(&self) -> Result<Examination, StoreError> {
        let topics = self.store().topics().await?;
        let stages = self.store().status().await?;
        let on_a_broker = stages.iter().filter(|status| status.stage.is_consumer() && status.lag.is_none());
        let name = |stage: &str| stage.split_once('/').map(|(_, name)| name.to_owned());
        let consumers = on_a_broker.filter_map(|status| name(status.stage.as_str())).collect();
        Ok(Examination { topics, consumers, ..Examination::default() })
    }
}
