//! A company's own crate, the only one that depends on `outbox`.

pub use outbox;

/// Declares an event with one field of the given type.
#[macro_export]
macro_rules! event {
    ($name:ident, $event_type:literal, $field:ty) => {
        #[derive($crate::outbox::Event, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[event(type = $event_type, version = 1, topic = "orders", crate = $crate::outbox)]
        pub struct $name {
            #[event(key)]
            pub id: $field,
        }
    };
}
