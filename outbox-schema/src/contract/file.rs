//! A contract as it lies in a file: whole, in its place, usable, and as `schema-accept` wrote it.

use super::{Contract, ContractError, DIGEST, fault, in_order, unreadable};
use crate::digest::digest;
use crate::json;
use serde_json::Value;

/// Reads the contract in the file at `place` inside the folder of schemas.
pub(crate) fn read(place: &str, text: &str) -> Result<Contract, ContractError> {
    if text.lines().any(|line| line.starts_with("<<<<<<< ")) {
        return Err(unreadable("it has the conflict marks of a merge".to_owned()));
    }
    let mut file = match json::parse(text) {
        Ok(file) => file,
        Err(error) if error.is_eof() => return Err(unreadable(format!("it is cut off ({error})"))),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let is_as_written = is_as_written(&mut file);
    let contract = Contract::from_file(file)?;
    if contract.file_name() != place {
        return Err(unreadable(format!("its content belongs into {}", contract.file_name())));
    }
    for (name, schema) in [("writes", &contract.writes), ("reads", &contract.reads)] {
        if let Some(fault) = fault(schema) {
            return Err(unreadable(format!("the schema `{name}` {fault}")));
        }
    }
    if !is_as_written {
        return Err(unreadable(
            "it was changed by hand or by a merge, as its digest does not fit the rest".to_owned(),
        ));
    }
    Ok(contract)
}

/// Whether the rest of the file fits the digest, which is taken out.
fn is_as_written(file: &mut Value) -> bool {
    let stated = file.as_object_mut().and_then(|members| members.remove(DIGEST));
    stated.is_some_and(|stated| stated == digest(&in_order(file).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OrderingMode;
    use serde_json::json;

    const PLACE: &str = "orders.placed/v1.json";

    fn text() -> String {
        let schema = json!({ "type": "object", "properties": { "id": { "type": "string" }, "at": { "minimum": 1.5 } } });
        let contract = Contract {
            ordering: OrderingMode::Keyed,
            key: "field id".to_owned(),
            ..Contract::of_schemas("orders.placed", "orders", schema.clone(), schema)
        };
        contract.to_text()
    }

    fn fault_of(text: &str) -> String {
        read(PLACE, text).unwrap_err().to_string()
    }

    #[test]
    fn white_space_is_no_change() {
        let text = text();
        assert!(read(PLACE, &text).is_ok());
        let compact: Value = serde_json::from_str(&text).unwrap();
        for same in [compact.to_string(), format!("\u{feff}{}", text.trim_end().replace('\n', "\r\n"))] {
            assert_eq!(read(PLACE, &same), read(PLACE, &text));
        }
    }

    #[test]
    fn each_way_to_spoil_a_file_has_its_own_message() {
        let text = text();
        for (old, new, message) in [
            ("\"orders\"", "\"order\"", "changed by hand or by a merge"),
            ("\"topic\"", "\n<<<<<<< HEAD\n\"topic\"", "conflict marks"),
            ("\"topic\"", "\"topic\": \"a\",\n  \"topic\"", "`topic` stands twice in one object at line"),
            (
                "\"minimum\": 1.5",
                "\"$ref\": \"https://acme.com/at.json\"",
                "refers to `https://acme.com/at.json`",
            ),
            ("\"minimum\": 1.5", "\"$ref\": \"#/$defs/At\"", "refers to `#/$defs/At`, which is not in it"),
            ("\"minimum\": 1.5", "\"pattern\": \"(a\"", "the pattern `(a`, which does not compile"),
            ("\"format\": 1", "\"format\": 9", "format 9"),
            ("\"eventVersion\": 1", "\"eventVersion\": 2", "belongs into orders.placed/v2.json"),
            ("\"keyed\"", "\"sorted\"", "`ordering` is `sorted`"),
        ] {
            let spoiled = text.replacen(old, new, 1);
            assert_ne!(spoiled, text, "{old}");
            assert!(fault_of(&spoiled).contains(message), "{new}: {}", fault_of(&spoiled));
        }
        assert!(fault_of(&text[..text.len() / 2]).contains("cut off"));
        let undigested: String = text.lines().filter(|line| !line.contains("\"digest\"")).collect();
        assert!(fault_of(&undigested).contains("changed by hand"));
    }
}
