//! Contracts in a folder.

use super::{Baseline, BaselineError, File, is_contract_place};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Reads every contract in a folder; `schemas` inside of it is taken as well.
pub(crate) fn from_folder(folder: &Path) -> Result<Baseline, BaselineError> {
    let inner = folder.join("schemas");
    let root = if inner.is_dir() { inner } else { folder.to_path_buf() };
    let unread = |path: &Path| {
        let path = path.to_path_buf();
        move |source| BaselineError::Io { path, source }
    };
    let mut files = BTreeMap::new();
    for (place, path) in contract_files(&root).map_err(unread(&root))? {
        let text = std::fs::read_to_string(&path).map_err(unread(&path))?;
        files.insert(place, File { name: path.display().to_string(), text });
    }
    if files.is_empty() {
        return Err(BaselineError::NoContracts { name: folder.display().to_string(), schemas: None });
    }
    Ok(Baseline { name: folder.display().to_string(), files })
}

/// The files `<type>/v<version>.json` below `root`, each with that place, sorted; none if `root` does not exist.
pub(crate) fn contract_files(root: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    if !root.is_dir() {
        return Ok(files);
    }
    for folder in std::fs::read_dir(root)? {
        let folder = folder?.path();
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&folder)? {
            let file = file?.path();
            let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
            let (Some(folder), Some(name)) = (name(&folder), name(&file)) else { continue };
            let place = format!("{folder}/{name}");
            if is_contract_place(&place) {
                files.push((place, file));
            }
        }
    }
    files.sort();
    Ok(files)
}
