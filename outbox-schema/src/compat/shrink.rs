//! Takes out of a payload whatever it does not need to show what it shows.

use serde_json::Value;

/// Parts that are tried; a payload with more keeps some that it does not need.
const TRIES_MAX: usize = 600;

/// `payload` with one part after the other removed, as long as `shows` still holds.
pub(super) fn smallest(mut payload: Value, shows: &dyn Fn(&Value) -> bool) -> Value {
    let mut tries = 0;
    let mut before = None;
    while before.as_ref() != Some(&payload) {
        before = Some(payload.clone());
        let mut at = 0;
        while let Some(path) = parts(&payload).into_iter().nth(at) {
            tries += 1;
            if tries > TRIES_MAX {
                return payload;
            }
            let mut smaller = payload.clone();
            if remove(&mut smaller, &path) && shows(&smaller) {
                payload = smaller;
            } else {
                at += 1;
            }
        }
    }
    payload
}

/// Steps to one part of a value, by position.
type Path = Vec<usize>;

/// Every part that can be taken out, the outer ones first.
fn parts(value: &Value) -> Vec<Path> {
    let inner: Vec<&Value> = match value {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => return Vec::new(),
    };
    let mut all: Vec<Path> = (0..inner.len()).map(|index| vec![index]).collect();
    for (index, part) in inner.into_iter().enumerate() {
        all.extend(parts(part).into_iter().map(|rest| std::iter::once(index).chain(rest).collect()));
        if part.as_str().is_some_and(|text| text.chars().count() > 1) {
            all.push(vec![index, 0]);
        }
    }
    all
}

/// Takes out the part at `path`, or half of a text; false if nothing is there.
fn remove(value: &mut Value, path: &[usize]) -> bool {
    let [index, rest @ ..] = path else { return false };
    match (value, rest) {
        (Value::Object(fields), []) => {
            let name = fields.keys().nth(*index).cloned();
            name.and_then(|name| fields.remove(&name)).is_some()
        }
        (Value::Object(fields), rest) => {
            fields.values_mut().nth(*index).is_some_and(|field| remove(field, rest))
        }
        (Value::Array(items), []) => {
            items.remove(*index);
            true
        }
        (Value::Array(items), rest) => items.get_mut(*index).is_some_and(|item| remove(item, rest)),
        (Value::String(text), []) => {
            *text = text.chars().take(text.chars().count() / 2).collect();
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::smallest;
    use serde_json::json;

    #[test]
    fn only_what_shows_it_is_left() {
        let payload = json!({ "a": [1, { "b": "long text", "c": null }, 3], "d": { "e": 1 } });
        let shown = smallest(payload, &|value| value["a"].to_string().contains("\"l"));
        assert_eq!(shown, json!({ "a": [{ "b": "l" }] }));
    }

    #[test]
    fn a_payload_of_very_many_parts_ends() {
        let payload: serde_json::Value = (0..3_000).map(|index| (format!("f{index}"), json!({}))).collect();
        assert!(smallest(payload, &|_| false).as_object().unwrap().len() == 3_000);
    }
}
