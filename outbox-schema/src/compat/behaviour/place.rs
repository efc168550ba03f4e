//! Where in a payload serde stopped, and how people call that place.

/// The JSON pointer of the place that ends at or holds the byte before `column`, in JSON text of one line.
///
/// serde_json names the column behind what it has read: behind a value it refuses, or behind an object that lacks a
/// field or was read as a whole.
pub(super) fn at_column(text: &str, column: usize) -> String {
    let mut open: Vec<Part> = Vec::new();
    let mut rest = text.as_bytes()[..column.saturating_sub(1).min(text.len())].iter().copied().enumerate();
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'{' => open.push(Part::Member(None)),
            b'[' => open.push(Part::Item(0)),
            b'}' | b']' => drop(open.pop()),
            b',' => match open.last_mut() {
                Some(Part::Item(index)) => *index += 1,
                Some(Part::Member(name)) => *name = None,
                None => {}
            },
            b'"' => {
                let mut escaped = false;
                let end = rest.find(|&(_, byte)| {
                    let closes = byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    closes
                });
                if let (Some((end, _)), Some(Part::Member(name @ None))) = (end, open.last_mut()) {
                    *name = serde_json::from_str(&text[at..=end]).ok();
                }
            }
            _ => {}
        }
    }
    // Behind its end, an object or a list is meant as a whole.
    let last = text.as_bytes().get(column.saturating_sub(1));
    if matches!(last, Some(b'}' | b']')) {
        open.pop();
    }
    open.iter().filter_map(Part::as_pointer).collect()
}

/// Where a scan stands in an object or a list.
enum Part {
    Member(Option<String>),
    Item(usize),
}

impl Part {
    fn as_pointer(&self) -> Option<String> {
        match self {
            Self::Member(name) => name.as_deref().map(|name| format!("/{}", escaped(name))),
            Self::Item(index) => Some(format!("/{index}")),
        }
    }
}

/// A name as a part of a JSON pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The names in a JSON pointer.
pub(super) fn parts(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"))
}

/// The pointer with `*` for each position in a list, so that all items are one place.
pub(super) fn general(pointer: &str) -> String {
    let part = |part: &str| if part.parse::<usize>().is_ok() { "/*".to_owned() } else { format!("/{part}") };
    pointer.split('/').skip(1).map(part).collect()
}

/// As people speak of the place: `` `lines[].sku` ``.
pub(super) fn name(pointer: &str) -> String {
    let mut name = String::new();
    for part in parts(&general(pointer)) {
        match part.as_str() {
            "*" => name.push_str("[]"),
            part if name.is_empty() => name.push_str(part),
            part => {
                name.push('.');
                name.push_str(part);
            }
        }
    }
    if name.is_empty() { "the payload".to_owned() } else { format!("`{name}`") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "nothing is ever read into it")]
    struct Outer {
        name: String,
        inner: Vec<Inner>,
        last: u8,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "nothing is ever read into it")]
    struct Inner {
        number: u8,
        #[serde(rename = "a/\"b")]
        text: char,
    }

    #[track_caller]
    fn stops(text: &str, at: &str) {
        let error = serde_json::from_str::<Outer>(text).unwrap_err();
        assert_eq!(at_column(text, error.column()), at, "{error}");
    }

    #[test]
    fn the_place_where_serde_stopped_is_found() {
        stops(r#"{"name":3,"inner":[],"last":1}"#, "/name");
        stops(r#"{"name":{"a":1},"inner":[],"last":1}"#, "/name");
        stops(r#"{"name":[],"inner":[],"last":1}"#, "/name");
        stops(r#"{"name":"","inner":[],"last":256}"#, "/last");
        stops(r#"{"name":"","last":-1,"inner":[]}"#, "/last");
        stops(r#"{"name":"","last":true,"inner":[]}"#, "/last");
        stops(r#"{"name":"","last":null,"inner":[]}"#, "/last");
        stops(r#"{"name":"","last":1.5,"inner":[]}"#, "/last");
        stops(r#"{"name":"","inner":"no","last":1}"#, "/inner");
        stops(
            r#"{"name":"a\\\"","inner":[{"number":1,"a/\"b":"x"},{"number":-1}],"last":1}"#,
            "/inner/1/number",
        );
        stops(r#"{"name":"","inner":[{"number":1,"a/\"b":"xy"}],"last":1}"#, "/inner/0/a~1\"b");
        stops(r#"{"name":"","inner":[{"number":1}],"last":1}"#, "/inner/0");
        stops(r#"{"name":"","inner":[]}"#, "");
    }

    #[test]
    fn a_place_is_called_as_a_path_of_fields() {
        assert_eq!(name("/lines/3/sku"), "`lines[].sku`");
        assert_eq!(name(""), "the payload");
        assert_eq!(general("/lines/3/sku"), "/lines/*/sku");
    }
}
