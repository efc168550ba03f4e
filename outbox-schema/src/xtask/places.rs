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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::{Evidence, FindingId};

    /// Where a finding of this repository is, whose source the compiler calls `file`.
    fn placed(file: &str, event_type: &str) -> Option<(String, u32)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let finding = Finding {
            id: FindingId::FieldRemoved,
            event_type: event_type.to_owned(),
            event_version: 1,
            what: String::new(),
            evidence: Evidence::Contracts,
            pointer: String::new(),
            location: Some(Location { file: file.to_owned(), line: 7 }),
            fix: String::new(),
        };
        let place = Places::new(root, &root.join("schemas")).place(&finding);
        place.map(|place| (place.file, place.line))
    }

    #[test]
    fn a_file_is_named_from_the_root_of_the_repository() {
        let own = Some(("outbox-schema/src/lib.rs".to_owned(), 7));
        assert_eq!(placed("outbox-schema/src/lib.rs", "github.pushed"), own);
        assert_eq!(placed("outbox-schema/src/../src/lib.rs", "github.pushed"), own);
        assert_eq!(placed(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs"), "github.pushed"), own);
    }

    #[test]
    fn a_finding_whose_source_is_not_there_is_at_its_contract_or_nowhere() {
        let contract = Some(("schemas/github.pushed/v1.json".to_owned(), 1));
        assert_eq!(placed("/renamed/by/the/build/lib.rs", "github.pushed"), contract);
        assert_eq!(placed("/renamed/by/the/build/lib.rs", "github.unknown"), None);
    }
}
