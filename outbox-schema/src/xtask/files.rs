//! The files that the commands read and write, and what they print.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder with Cargo.lock above the package of the xtask, however deep in it cargo was started.
pub(super) fn workspace_root() -> Result<PathBuf, String> {
    let here = std::env::current_dir().map_err(|error| format!("can't tell the current folder: {error}"))?;
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| here.clone(), PathBuf::from);
    let root = package.ancestors().find(|folder| folder.join("Cargo.lock").is_file()).map(Path::to_path_buf);
    Ok(root.unwrap_or(here))
}

/// The text of a file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("can't read {}: {error}", path.display())),
    }
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| format!("can't write {}: {error}", path.display()))
}

/// Line ends, a byte-order mark and a missing last line break are no difference.
pub(super) fn is_same(known: &str, text: &str) -> bool {
    let plain = |text: &str| text.trim_start_matches('\u{feff}').replace("\r\n", "\n").trim_end().to_owned();
    plain(known) == plain(text)
}

/// The path from the current folder, where it is below.
pub(super) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

/// Prints to the standard output. A reader that has seen enough and closed the pipe changes nothing.
pub(super) fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
