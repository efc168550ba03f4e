//! Fills the table names into SQL files, once, when a store opens.
//!
//! A file writes `{outbox_log}` for a table or index of ours. This is the only place that vouches for a statement which
//! is no literal: what is filled in comes from the configuration and is quoted by the database's own rule.

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

/// The placeholder's fixed beginning; what follows is the name without prefix.
const MARK: &str = "{outbox_";

/// Replaces each `{outbox_<name>}` in `text` by `quote(<name>)`.
pub(crate) fn fill(text: &str, quote: impl Fn(&str) -> String) -> SqlStr {
    AssertSqlSafe(fill_text(text, quote)).into_sql_str()
}

fn fill_text(text: &str, quote: impl Fn(&str) -> String) -> String {
    let mut filled = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(start) = rest.find(MARK) {
        let (before, after) = rest.split_at(start);
        let end = after.find('}').expect("a placeholder in an SQL file is closed");
        filled.push_str(before);
        filled.push_str(&quote(&after[MARK.len()..end]));
        rest = &after[end + 1..];
    }
    filled.push_str(rest);
    filled
}

/// Quotes an identifier by the SQL standard.
pub(crate) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A handler that takes another database's transaction than its runner has is refused when the runner starts.
impl<DB: sqlx::Database> super::HandlerTx for sqlx::Transaction<'static, DB> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_prefix_stays_one_identifier() {
        let filled = fill_text("FROM {outbox_log} l", |name| quote_identifier(&format!("a\"; DROP {name}")));
        assert_eq!(filled, "FROM \"a\"\"; DROP log\" l");
    }
}
