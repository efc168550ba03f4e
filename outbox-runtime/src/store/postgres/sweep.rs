//! Retention of the log by its ring, of the inbox by its window, and of old progress.

use super::PostgresStore;
use crate::{
    lease::Owner,
    store::{Retention, StoreError},
};

pub(super) async fn sweep(
    _store: &PostgresStore,
    _owner: Owner,
    _retention: &Retention,
) -> Result<bool, StoreError> {
    Ok(false)
}
