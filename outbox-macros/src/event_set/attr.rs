//! Reads `#[event_set(…)]`.

use crate::entry;
use crate::mistakes::Mistakes;
use syn::{Attribute, Path};

/// `#[event_set(…)]` on the enum.
#[derive(Default)]
pub(super) struct SetAttr {
    pub(super) root: Option<Path>,
}

impl SetAttr {
    pub(super) fn read(attrs: &[Attribute], mistakes: &mut Mistakes) -> Self {
        let mut read = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("event_set")) {
            let Some(list) = mistakes.note(attr.meta.require_list()) else { continue };
            for entry in entry::read(list.tokens.clone(), mistakes) {
                if entry.name() == "crate" {
                    entry.path(&mut read.root, "crate = path::to::outbox", mistakes);
                } else {
                    entry::unknown(&entry.key, &["crate"], mistakes);
                }
            }
        }
        read
    }
}
