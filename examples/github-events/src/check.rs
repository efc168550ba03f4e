//! What the tables must hold, computed from the file alone: neither the events nor the consumers have a part in it.

use crate::{
    Result,
    activity::chained,
    database::{self, Database},
    ingest,
    webhook::{Origin, Webhook},
};
use outbox::Outbox;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The tables, each row a text that begins with the table's name.
#[derive(Debug)]
pub(crate) struct Tables {
    rows: BTreeSet<String>,
    /// Webhooks.
    pub(crate) deliveries: i64,
    /// How many events each of the two consumers takes.
    pub(crate) handled: [i64; 2],
}

impl Tables {
    /// What the file says.
    pub(crate) fn computed(webhooks: &[Webhook], repeat: u32) -> Result<Self> {
        let mut activity: BTreeMap<[String; 3], i64> = BTreeMap::new();
        let mut work: BTreeMap<String, [i64; 4]> = BTreeMap::new();
        let mut repositories = Vec::new();
        for webhook in webhooks {
            let repository = webhook.payload::<Origin>()?.repository.full_name;
            let action = webhook.action.clone().unwrap_or_default();
            *activity.entry([repository.clone(), webhook.event.clone(), action]).or_default() +=
                i64::from(repeat);
            if let Some(amount) = work_of(webhook)? {
                let sum = work.entry(repository.clone()).or_default();
                sum.iter_mut().zip(amount).for_each(|(sum, amount)| *sum += amount * i64::from(repeat));
            }
            repositories.push(repository);
        }
        let mut chains: BTreeMap<String, String> = BTreeMap::new();
        for ((id, _), repository) in ingest::ids(webhooks, repeat).zip(repositories.iter().cycle()) {
            let chain = chains.entry(repository.clone()).or_default();
            *chain = chained(chain, &id);
        }
        let handled = [activity.values().sum(), work.values().map(|sum| sum[0]).sum()];
        let activity = activity.into_iter().map(|(key, count)| row("activity", key, [count]));
        let chains = chains.into_iter().map(|(repository, chain)| row("chain", [repository, chain], []));
        let work = work.into_iter().map(|(repository, sum)| row("work", [repository], sum));
        let rows = activity.chain(chains).chain(work).collect();
        Ok(Self { rows, deliveries: handled[0], handled })
    }

    /// What the consumers wrote.
    pub(crate) async fn stored<S: Database>(outbox: &Outbox<S>) -> Result<Self> {
        let mut rows = BTreeSet::new();
        for (table, select) in [
            ("activity", include_str!("sql/select_activity.sql")),
            ("chain", include_str!("sql/select_chains.sql")),
            ("work", include_str!("sql/select_work.sql")),
        ] {
            rows.extend(outbox.store().rows(select).await?.into_iter().map(|cells| row(table, cells, [])));
        }
        let deliveries = database::number(outbox, include_str!("sql/count_deliveries.sql")).await?;
        Ok(Self { rows, deliveries, handled: database::handled(outbox).await? })
    }

    /// Every row that one has and the other has not.
    pub(crate) fn compared_with(&self, stored: &Self) -> Vec<String> {
        let missing = self.rows.difference(&stored.rows).map(|row| format!("missing: {row}"));
        let surplus = stored.rows.difference(&self.rows).map(|row| format!("not in the file: {row}"));
        let deliveries = (self.deliveries != stored.deliveries)
            .then(|| format!("{} webhooks are stored, the file has {}", stored.deliveries, self.deliveries));
        missing.chain(surplus).chain(deliveries).collect()
    }
}

fn row<const N: usize>(table: &str, cells: impl IntoIterator<Item = String>, numbers: [i64; N]) -> String {
    let cells = cells.into_iter().chain(numbers.map(|number| number.to_string()));
    std::iter::once(table.to_owned()).chain(cells).collect::<Vec<_>>().join(" | ")
}

/// Events, commits, opened issues and merged pull requests; `None` for what is no work.
fn work_of(webhook: &Webhook) -> Result<Option<[i64; 4]>> {
    let payload: Value = webhook.payload()?;
    let action = webhook.action.as_deref();
    Ok(match webhook.event.as_str() {
        "push" => {
            let commits = payload["commits"].as_array().ok_or("a push lists its commits")?.len();
            Some([1, i64::try_from(commits)?, 0, 0])
        }
        "issues" => Some([1, 0, i64::from(action == Some("opened")), 0]),
        "pull_request" => {
            let is_merged = payload["pull_request"]["merged"] == Value::Bool(true);
            Some([1, 0, 0, i64::from(action == Some("closed") && is_merged)])
        }
        _ => None,
    })
}
