// Raw identifiers lose their prefix in every name.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "types.changed", version = 1, topic = "types")]
struct r#Type {
    #[event(key)]
    r#type: String,
    r#async: bool,
}

fn main() {
    assert_eq!(r#Type { r#type: "a".into(), r#async: true }.partition_key().as_deref(), Some("a"));
    let catalog = outbox::Catalog::collect().unwrap();
    let event = catalog.events()[0];
    assert!(event.rust_path.ends_with("::Type"), "{}", event.rust_path);
    assert_eq!((event.fields[0].name, event.fields[0].writes), ("type", Some("type")));
    assert_eq!(event.fields[1].name, "async");
}
