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

/// Writes one file, whole or not at all.
pub(super) fn write(path: &Path, text: &str) -> Result<(), String> {
    write_all(&[(path.to_path_buf(), text.to_owned())])
}

/// Writes all files or none of them, and each at once: every text is written beside its file first, then takes its place.
pub(super) fn write_all(files: &[(PathBuf, String)]) -> Result<(), String> {
    let mut staged: Vec<(PathBuf, &Path)> = Vec::new();
    for (path, text) in files {
        let beside = beside(path);
        let written = stage(&beside, text);
        staged.push((beside, path));
        if let Err(error) = written {
            staged.iter().for_each(|(beside, _)| drop(std::fs::remove_file(beside)));
            return Err(format!("can't write {}: {error}; nothing was written", path.display()));
        }
    }
    let mut before: Vec<(&Path, Option<Vec<u8>>)> = Vec::new();
    for (beside, path) in &staged {
        let known = std::fs::read(path).ok();
        if let Err(error) = std::fs::rename(beside, path) {
            before.into_iter().for_each(|(path, known)| restore(path, known));
            staged.iter().for_each(|(beside, _)| drop(std::fs::remove_file(beside)));
            return Err(format!("can't write {}: {error}; nothing was written", path.display()));
        }
        before.push((path, known));
    }
    Ok(())
}

/// Where the text of a file waits: in its own folder, as a file moves at once only within one file system.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.new", std::process::id()))
}

fn stage(beside: &Path, text: &str) -> io::Result<()> {
    std::fs::create_dir_all(beside.parent().unwrap_or(Path::new(".")))?;
    std::fs::write(beside, text)
}

fn restore(path: &Path, known: Option<Vec<u8>>) {
    let _ = match known {
        Some(bytes) => std::fs::write(path, bytes),
        None => std::fs::remove_file(path),
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_written_or_none() {
        let folder = std::env::temp_dir().join(format!("outbox-write-all-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("taken")).unwrap();
        std::fs::write(folder.join("first"), "old").unwrap();
        let file = |name: &str| (folder.join(name), "new".to_owned());
        // A folder is in the place of the last file, so only its rename fails.
        let error = write_all(&[file("first"), file("second"), file("taken")]).unwrap_err();
        assert!(error.contains("taken") && error.contains("nothing was written"), "{error}");
        assert_eq!(std::fs::read_to_string(folder.join("first")).unwrap(), "old");
        // A file is in the place of the folder, so nothing is staged there.
        write_all(&[file("first/inner"), file("second")]).unwrap_err();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "no file is left over");
        write_all(&[file("first"), file("second")]).unwrap();
        assert_eq!(std::fs::read_to_string(folder.join("first")).unwrap(), "new");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
