//! `catalog`: writes the page about every event.

use super::files::{say, shown, write};
use super::project::Project;
use crate::docs::markdown;
use std::path::Path;

pub(super) fn run(project: &Project, folder: Option<&Path>) -> Result<bool, String> {
    let page = markdown::render(&project.catalog).map_err(|error| error.to_string())?;
    let path = folder.map_or_else(|| project.root.join("docs"), Path::to_path_buf).join("catalog.md");
    write(&path, &page)?;
    say(&format!("wrote {}\n", shown(&path)));
    Ok(true)
}
