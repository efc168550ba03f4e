//! Finds the path at which generated code reaches the crate `outbox`.

use crate::mistakes::Mistakes;
use proc_macro2::Span;
use syn::{Path, parse_quote};

/// The user's `crate = path`, else `::outbox`.
///
/// When the manifest of the package shows that it does not depend on `outbox` by that name, no path works: the
/// one error about it names the attribute to set, and nothing must be generated.
pub(crate) fn find(given: Option<&Path>, attribute: &str, mistakes: &mut Mistakes) -> Option<Path> {
    if let Some(path) = given {
        return Some(path.clone());
    }
    if depends_on_outbox() {
        return Some(parse_quote!(::outbox));
    }
    mistakes.add_at(
        Span::call_site(),
        format!(
            "this package has no dependency named `outbox`; if it is renamed or re-exported, \
             say where it is: `#[{attribute}(crate = path::to::outbox)]`"
        ),
    );
    None
}

/// Whether the manifest of the compiled package names a dependency `outbox`; true when there is no telling.
fn depends_on_outbox() -> bool {
    if std::env::var("CARGO_PKG_NAME").is_ok_and(|package| package == "outbox") {
        return true;
    }
    let Ok(folder) = std::env::var("CARGO_MANIFEST_DIR") else { return true };
    let Ok(manifest) = std::fs::read_to_string(std::path::Path::new(&folder).join("Cargo.toml")) else {
        return true;
    };
    names_outbox_as_key(&manifest)
}

/// Whether `outbox` stands anywhere in the text as a TOML key: `outbox = …`, `outbox.workspace = …`, `[….outbox]`.
///
/// Not a TOML parser on purpose: it may say yes too often (rustc then reports the missing crate itself), never no
/// for a manifest that has the key.
fn names_outbox_as_key(manifest: &str) -> bool {
    manifest.match_indices("outbox").any(|(start, word)| {
        let (before, after) = (&manifest[..start], &manifest[start + word.len()..]);
        let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        let rest = after.trim_start_matches(['"', '\'']).trim_start_matches([' ', '\t']);
        is_whole && rest.starts_with(['=', '.', ']'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_the_key_is_seen() {
        for manifest in [
            "[dependencies]\noutbox = \"0.1\"",
            "[dependencies]\noutbox.workspace = true",
            "[dependencies]\n\"outbox\" = { path = \"..\" }",
            "[dependencies.outbox]\nversion = \"0.1\"",
            "[dev-dependencies . outbox ]\nversion = \"0.1\"",
            "dependencies = { outbox = \"0.1\" }",
        ] {
            assert!(names_outbox_as_key(manifest), "{manifest}");
        }
    }

    #[test]
    fn another_name_is_not_the_key() {
        for manifest in [
            "[dependencies]\nevents = { package = \"outbox\", version = \"0.1\" }",
            "[dependencies]\nmy-outbox = \"1\"",
            "[dependencies]\noutbox-schema = \"0.1\"",
            "",
        ] {
            assert!(!names_outbox_as_key(manifest), "{manifest}");
        }
    }
}
