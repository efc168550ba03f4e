//! Addresses of schemas: a relative one is completed by the address of the schema around it.

/// `reference`, without fragment, seen from `base`.
pub(super) fn join(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    if scheme_end(reference).is_some() {
        return reference.to_owned();
    }
    let host = scheme_end(base).unwrap_or(0);
    if let Some(rest) = reference.strip_prefix("//") {
        return format!("{}//{rest}", &base[..host]);
    }
    let path = if base[host..].starts_with("//") {
        base[host + 2..].find('/').map_or(base.len(), |slash| host + 2 + slash)
    } else {
        host
    };
    let (root, old) = base.split_at(path);
    let folder = old.rfind('/').map_or("", |slash| &old[..slash]);
    let joined = if reference.starts_with('/') {
        reference.to_owned()
    } else if old.is_empty() && root.is_empty() {
        return reference.to_owned();
    } else {
        format!("{folder}/{reference}")
    };
    format!("{root}{}", without_dots(&joined))
}

/// Where the scheme of an absolute address ends, behind its colon.
fn scheme_end(address: &str) -> Option<usize> {
    let colon = address.find(':')?;
    let scheme = &address[..colon];
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    is_scheme.then_some(colon + 1)
}

fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop().filter(|last| !last.is_empty())),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn a_relative_address_is_completed() {
        let base = "https://example.com/a/b.json";
        for (reference, whole) in [
            ("", base),
            ("c.json", "https://example.com/a/c.json"),
            ("../c.json", "https://example.com/c.json"),
            ("./d/c.json", "https://example.com/a/d/c.json"),
            ("/c.json", "https://example.com/c.json"),
            ("//other.org/c", "https://other.org/c"),
            ("urn:x:y", "urn:x:y"),
        ] {
            assert_eq!(join(base, reference), whole, "{reference}");
        }
        assert_eq!(join("", "c.json"), "c.json");
        assert_eq!(join("a/b.json", "c.json"), "a/c.json");
    }
}
