//! How generated code makes the partition key of an event.

use std::fmt::Display;

/// A type that can be the partition key of an event: one with a `Display` text.
///
/// The text must equal the field's JSON scalar without quotes, so that readers in other languages can compute it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a partition key: it has no `Display` text",
    label = "implement `Display` for this type, or choose another key",
    note = "a function can make the key too: `#[event(key_with = path)]`"
)]
pub trait PartitionKey {
    /// The key as text.
    fn key_text(&self) -> String;
}

#[diagnostic::do_not_recommend]
impl<T: Display + ?Sized> PartitionKey for T {
    fn key_text(&self) -> String {
        self.to_string()
    }
}

/// The partition key that stands in a field.
#[must_use]
pub fn key_of<K: PartitionKey + ?Sized>(field: &K) -> Option<String> {
    Some(field.key_text())
}

/// The partition key that a function makes of the whole event.
#[must_use]
pub fn key_with<E>(event: &E, key: fn(&E) -> String) -> Option<String> {
    Some(key(event))
}
