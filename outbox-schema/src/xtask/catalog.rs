//! `catalog`: writes the page about every event.

use super::files::{say, shown, write};
use crate::Catalog;
use crate::docs::markdown;
use std::path::Path;

pub(super) fn run(catalog: &Catalog, folder: &Path) -> Result<bool, String> {
    let page = markdown::render(catalog).map_err(|error| error.to_string())?;
    let path = folder.join("catalog.md");
    write(&path, &page)?;
    say(&format!("wrote {}\n", shown(&path)));
    Ok(true)
}
