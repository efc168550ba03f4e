//! Reads the repository's files, and as much of Rust as its rules need: code without comments, and string literals.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One file of the repository.
pub(super) struct Source {
    /// The path from the root of the repository, with slashes.
    pub(super) path: String,
    /// The whole text.
    pub(super) text: String,
    /// The code without comments; each string literal is an empty one.
    pub(super) code: String,
    /// The string literals as written.
    pub(super) strings: Vec<String>,
}

impl Source {
    fn new(path: String, text: String) -> Self {
        let (code, strings) = if path.ends_with(".rs") { split(&text) } else { Default::default() };
        Self { path, text, code, strings }
    }

    /// The file up to its unit tests, which stand at the end.
    pub(super) fn without_tests(&self) -> Self {
        let text = self.text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        Self::new(self.path.clone(), text.to_owned())
    }

    /// The identifiers and keywords of the code.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.code.split(|c: char| !c.is_alphanumeric() && c != '_')
    }

    /// Name and number of lines of each function. In formatted code it ends at the brace with its own indentation.
    pub(super) fn functions(&self) -> Vec<(String, usize)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let mut functions = Vec::new();
        for (start, line) in lines.iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let Some(name) = function_name(line.trim_start()) else { continue };
            let end = format!("{}}}", &line[..indent]);
            // A declaration without a body, or a whole function on one line, ends before any body begins.
            let signature_end = lines[start..].iter().find(|line| line.ends_with(['{', ';', '}']));
            let has_body = signature_end.is_some_and(|line| line.ends_with('{'));
            let length = lines[start..].iter().position(|line| *line == end);
            functions.extend(length.filter(|_| has_body).map(|length| (name.to_owned(), length + 1)));
        }
        functions
    }
}

fn function_name(line: &str) -> Option<&str> {
    let at = if line.starts_with("fn ") { 0 } else { line.find(" fn ")? + 1 };
    let modifiers = ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe", "extern"];
    let is_item =
        line[..at].split_whitespace().all(|word| modifiers.contains(&word) || word.starts_with("pub("));
    let name = line[at + 3..].split(['(', '<']).next()?;
    is_item.then_some(name)
}

/// The root of the repository.
pub(super) fn repository_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in a folder of the root")
}

/// The text of one file, by its path from the root.
pub(super) fn read(path: &str) -> String {
    std::fs::read_to_string(repository_root().join(path)).unwrap()
}

/// The files with that extension (or whole name) under a folder of the repository, in order of their paths.
pub(super) fn sources(folder: &str, extension: &str) -> impl Iterator<Item = Source> + use<> {
    let mut paths = Vec::new();
    collect(&repository_root().join(folder), &mut paths);
    paths.sort();
    let suffix = format!(".{extension}");
    let wanted = move |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(&suffix) || name == &suffix[1..]
    };
    paths.into_iter().filter(wanted).map(|path| {
        let relative = path.strip_prefix(repository_root()).expect("the file was found under the root");
        let relative = relative.to_str().unwrap().trim_start_matches("./").to_owned();
        Source::new(relative, std::fs::read_to_string(&path).unwrap())
    })
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if entry.file_type().unwrap().is_dir() {
            if name != "target" && name != ".git" {
                collect(&entry.path(), paths);
            }
        } else {
            paths.push(entry.path());
        }
    }
}

/// The first name after `crate::` of every path in the code, also in grouped imports.
pub(super) fn crate_paths(file: &Source) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, start) in file.code.match_indices("crate::") {
        // `$crate::` of a macro and the tail of a longer name are no paths of this crate's source.
        if file.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        names.extend(heads(&file.code[at + start.len()..]));
    }
    names
}

/// The name of each public item that `lib.rs` re-exports, with the module it lives in.
pub(super) fn reexports(lib: &str) -> BTreeMap<String, String> {
    let (code, _) = split(lib);
    let mut homes = BTreeMap::new();
    for (at, start) in code.match_indices("pub use ") {
        let path = &code[at + start.len()..];
        let Some((module, rest)) = path.split_once("::") else { continue };
        homes.extend(heads(rest).into_iter().map(|name| (name, module.to_owned())));
    }
    homes
}

/// The first name of a path, or of each path of a group in braces.
fn heads(path: &str) -> Vec<String> {
    let name_of =
        |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = path.strip_prefix('{') else { return vec![name_of(path)] };
    let mut depth = 0;
    let mut names = Vec::new();
    let mut at_start = true;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => at_start = true,
            c if at_start && !c.is_whitespace() => {
                names.push(name_of(&group[at..]));
                at_start = false;
            }
            _ => {}
        }
    }
    names
}

/// Splits Rust text into code (comments dropped, string literals emptied) and the literals.
fn split(text: &str) -> (String, Vec<String>) {
    let (mut code, mut strings) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let literal = string_literal(rest);
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if rest.starts_with("/*") {
            rest = &rest[rest.find("*/").map_or(rest.len(), |end| end + 2)..];
        } else if let Some((content, length)) = literal {
            strings.push(content.to_owned());
            code.push_str("\"\"");
            rest = &rest[length..];
        } else if let Some(length) = char_literal(rest) {
            rest = &rest[length..];
        } else if c.is_alphabetic() || c == '_' {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            code.push_str(&rest[..word]);
            rest = &rest[word..];
        } else {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    (code, strings)
}

/// Content and length of the string literal that `text` begins with.
fn string_literal(text: &str) -> Option<(&str, usize)> {
    let after_prefix = text.trim_start_matches(['b', 'c', 'r']);
    let prefix = text.len() - after_prefix.len();
    let is_raw = text[..prefix].contains('r');
    let hashes = if is_raw { after_prefix.len() - after_prefix.trim_start_matches('#').len() } else { 0 };
    let content = after_prefix[hashes..].strip_prefix('"')?;
    let mut end = 0;
    let closing = format!("\"{}", "#".repeat(hashes));
    while !content[end..].starts_with(&closing) {
        let is_escape = !is_raw && content[end..].starts_with('\\');
        let mut chars = content[end..].chars();
        end += chars.next()?.len_utf8() + if is_escape { chars.next()?.len_utf8() } else { 0 };
    }
    Some((&content[..end], prefix + hashes + 1 + end + closing.len()))
}

/// Length of the character literal that `text` begins with; `None` for a lifetime.
fn char_literal(text: &str) -> Option<usize> {
    let content = text.strip_prefix('\'')?;
    let first = content.chars().next()?;
    let end = if first == '\\' { 2 + content.get(2..)?.find('\'')? } else { first.len_utf8() };
    content[end..].starts_with('\'').then_some(end + 2)
}

#[test]
fn code_and_strings_are_told_apart() {
    let (code, strings) =
        split("let a = \"x // \\\" y\"; // \"no\"\nlet b: &'static str = r#\"q\"r\"#; let c = '\"';");
    assert_eq!(strings, ["x // \\\" y", "q\"r"]);
    assert_eq!(code, "let a = \"\"; \nlet b: &'static str = \"\"; let c = ;");
}

#[test]
fn the_heads_of_grouped_imports_are_found() {
    let file = Source::new(
        "a.rs".into(),
        "use crate::{\n    b::{C, d},\n    E,\n}; fn f() { crate::g::h() }".into(),
    );
    let names: Vec<_> = crate_paths(&file).into_iter().collect();
    assert_eq!(names, ["E", "b", "g"]);
}
