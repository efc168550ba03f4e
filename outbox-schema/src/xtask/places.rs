//! Turns the places that the compiler knows into places of the repository.
//!
//! The compiler names a file as cargo gave it: from the root of the workspace, or absolute for a package outside of
//! it; and a build may have renamed it altogether (`trim-paths`). A reader of a report has the repository instead.

use crate::compat::{Finding, Location};
use crate::contract::file_name;
use std::path::{Path, PathBuf};

pub(super) struct Places {
    workspace: PathBuf,
    schemas: PathBuf,
    /// The root of the repository; that of the workspace where there is none.
    pub(super) root: PathBuf,
}

impl Places {
    pub(super) fn new(workspace: &Path, schemas: &Path) -> Self {
        let workspace = real(workspace);
        let root = workspace.ancestors().find(|folder| folder.join(".git").exists());
        Self {
            root: root.unwrap_or(&workspace).to_path_buf(),
            schemas: std::path::absolute(schemas).unwrap_or_else(|_| schemas.to_path_buf()),
            workspace,
        }
    }

    /// The place of the finding from the root of the repository, or absolute outside of it. Where there is no such
    /// file, the contract stands for it, and where there is none either, nothing.
    pub(super) fn place(&self, finding: &Finding) -> Option<Location> {
        let source = finding.location.clone();
        let contract = self.schemas.join(file_name(&finding.event_type, finding.event_version));
        let contract = Location { file: contract.display().to_string(), line: 1 };
        source.into_iter().chain([contract]).find_map(|place| self.existing(&place))
    }

    fn existing(&self, place: &Location) -> Option<Location> {
        let path = self.workspace.join(&place.file);
        if !path.is_file() {
            return None;
        }
        let path = real(&path);
        let below = path.strip_prefix(&self.root).unwrap_or(&path);
        let file = below.display().to_string();
        // On every system with the separator that reports have.
        let file = if cfg!(windows) { file.replace('\\', "/") } else { file };
        Some(Location { file, line: place.line })
    }
}

/// Without symbolic links, so that two paths to one place are alike.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
}
