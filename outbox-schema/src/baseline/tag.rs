//! Which tags are releases, and which of them is the last.

use super::git::Git;
use super::{BaselineError, Choice};
use std::collections::BTreeMap;

/// A tag such as `v1.2.3`, `1.2.3`, `orders-v1.2.3` or `orders@1.2.3`, taken apart.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Release<'a> {
    version: [u64; 3],
    tag: &'a str,
    /// What stands before the version.
    prefix: &'a str,
}

impl<'a> Release<'a> {
    /// `None` for prereleases and for tags that are no releases.
    fn of(tag: &'a str) -> Option<Self> {
        // What follows `+` says how it was built, and neither makes it a prerelease nor counts.
        let without_build = tag.split_once('+').map_or(tag, |(tag, _)| tag);
        let is_version = |byte: char| byte.is_ascii_digit() || byte == '.';
        let start = without_build.rfind(|byte| !is_version(byte)).map_or(0, |at| at + 1);
        let (prefix, version) = without_build.split_at(start);
        let parts: Option<Vec<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
        let package = package_of(prefix);
        // In `v1.2.3-4.5.6` the numbers at the end are those of a prerelease.
        let ends_in_a_digit =
            package.trim_end_matches(SEPARATORS).ends_with(|last: char| last.is_ascii_digit());
        let is_prerelease = ends_in_a_digit && Release::of(package.trim_end_matches(SEPARATORS)).is_some();
        let is_apart = package.is_empty() || package.ends_with(SEPARATORS);
        (is_apart && !is_prerelease).then_some(Self { version: parts?.try_into().ok()?, tag, prefix })
    }
}

const SEPARATORS: [char; 4] = ['-', '/', '@', '_'];

/// The prefix without the `v` before the version: `v1.2.3` and `1.2.3` are releases of one thing.
fn package_of(prefix: &str) -> &str {
    let package = prefix.strip_suffix('v').unwrap_or(prefix);
    if package.is_empty() || package.ends_with(SEPARATORS) { package } else { prefix }
}

/// The last release that HEAD contains; `None` if it is certain that there is none.
pub(super) fn last_release(git: &Git, choice: &Choice) -> Result<Option<String>, BaselineError> {
    if git.is_shallow()? {
        return Err(BaselineError::Shallow);
    }
    let reachable = if git.commit("HEAD")?.is_some() { git.tags(Some("HEAD"))? } else { Vec::new() };
    if let Some(tag) = highest(&reachable, choice)? {
        return Ok(Some(tag));
    }
    if choice.first_release {
        return Ok(None);
    }
    let all = git.tags(None)?;
    if let Some(tag) = highest(&all, choice)? {
        return Err(BaselineError::NotReachable { tag });
    }
    let other = all.iter().filter_map(|tag| Release::of(tag)).max();
    match (&choice.tag_prefix, other) {
        (Some(prefix), Some(other)) => {
            Err(BaselineError::PrefixUnknown { prefix: prefix.clone(), other: other.tag.to_owned() })
        }
        _ if git.fetches_no_tags()? => Err(BaselineError::NoTagsFetched),
        _ => Ok(None),
    }
}

/// The highest version among `tags`.
fn highest(tags: &[String], choice: &Choice) -> Result<Option<String>, BaselineError> {
    let mut packages: BTreeMap<&str, Release<'_>> = BTreeMap::new();
    let releases = tags.iter().filter_map(|tag| Release::of(tag));
    for release in
        releases.filter(|release| choice.tag_prefix.as_deref().is_none_or(|own| own == release.prefix))
    {
        let package = package_of(release.prefix);
        if packages.get(package).is_none_or(|known| *known < release) {
            packages.insert(package, release);
        }
    }
    let mut releases: Vec<Release<'_>> = packages.into_values().collect();
    match (releases.pop(), releases.as_slice()) {
        (None, _) => Ok(None),
        (Some(only), []) => Ok(Some(only.tag.to_owned())),
        (Some(last), _) => {
            releases.push(last);
            let named = |release: &Release<'_>| (release.tag.to_owned(), release.prefix.to_owned());
            Err(BaselineError::Ambiguous { releases: releases.iter().map(named).collect() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn highest_of(tags: &[&str], prefix: Option<&str>) -> Result<Option<String>, BaselineError> {
        let tags: Vec<String> = tags.iter().map(|&tag| tag.to_owned()).collect();
        highest(&tags, &Choice { tag_prefix: prefix.map(str::to_owned), ..Choice::default() })
    }

    #[test]
    fn only_release_tags_have_a_version() {
        let release = |tag| Release::of(tag).map(|release| (release.prefix, release.version));
        assert_eq!(release("v1.20.3"), Some(("v", [1, 20, 3])));
        assert_eq!(release("1.2.3"), Some(("", [1, 2, 3])));
        assert_eq!(release("shop-v1.2.3"), Some(("shop-v", [1, 2, 3])));
        assert_eq!(release("shop-2/1.2.3"), Some(("shop-2/", [1, 2, 3])));
        assert_eq!(release("@acme/shop@1.2.3"), Some(("@acme/shop@", [1, 2, 3])));
        assert_eq!(release("v1.2.3+build-5"), Some(("v", [1, 2, 3])));
        for other in [
            "v1.2.3-rc.1",
            "v1.2",
            "nightly",
            "v1.2.3-4",
            "v1.2.3-4.5.6",
            "draft1.2.3",
            "dev1.2.3",
            "v1.2.3.4",
            "v",
        ] {
            assert_eq!(release(other), None, "{other}");
        }
    }

    #[test]
    fn the_highest_version_is_found_by_number_and_not_by_name() {
        let tags = ["v0.9.0", "v0.10.0", "0.9.9", "v0.11.0-rc.1", "latest"];
        assert_eq!(highest_of(&tags, None).unwrap().as_deref(), Some("v0.10.0"));
        assert_eq!(highest_of(&tags, Some("")).unwrap().as_deref(), Some("0.9.9"));
        assert_eq!(highest_of(&[], None).unwrap(), None);
    }

    #[test]
    fn releases_of_several_packages_are_not_mixed() {
        let tags = ["orders-v1.2.3", "billing-v2.0.0", "orders-v1.10.0"];
        assert_eq!(highest_of(&tags, Some("orders-v")).unwrap().as_deref(), Some("orders-v1.10.0"));
        let error = highest_of(&tags, None).unwrap_err().to_string();
        assert!(error.contains("billing-v2.0.0") && error.contains("`--tag-prefix orders-v`"), "{error}");
    }
}
