//! What the commands about a project's own events work on.

use super::Cli;
use super::files::workspace_root;
use crate::Catalog;
use std::path::PathBuf;
use time::{Date, OffsetDateTime};

/// The events that are linked into this xtask, and where their contracts are kept.
pub(super) struct Project {
    pub(super) catalog: Catalog,
    pub(super) root: PathBuf,
    pub(super) schemas: PathBuf,
    /// The day on which waivers are judged.
    pub(super) today: Date,
}

impl Project {
    pub(super) fn open(cli: &Cli) -> Result<Self, String> {
        let catalog = Catalog::collect().and_then(Catalog::not_empty).map_err(|error| error.to_string())?;
        let root = workspace_root()?;
        let schemas = cli.schemas.clone().unwrap_or_else(|| root.join("schemas"));
        let today = cli.today.unwrap_or_else(|| OffsetDateTime::now_utc().date());
        Ok(Self { catalog, root, schemas, today })
    }
}
