//! The names that a flattened field brings into the payload, as far as its type has a schema.

use crate::contract::members;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use std::collections::BTreeSet;
use std::marker::PhantomData;

/// Asks the type `T` for its names. The method of its own is there for a type with a schema; for others, which a
/// struct with a schema of its own making may have, the trait [`Undescribed`] steps in.
#[derive(Debug)]
pub struct Flattened<T>(PhantomData<T>);

impl<T> Flattened<T> {
    /// The question.
    pub const OF: Self = Self(PhantomData);
}

impl<T: JsonSchema> Flattened<T> {
    /// The names, written or read, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let settings = SchemaSettings::draft2020_12;
        let schemas = [settings().for_serialize(), settings().for_deserialize()]
            .map(|settings| settings.into_generator().into_root_schema_for::<T>().to_value());
        let names: BTreeSet<&str> = schemas.iter().flat_map(members).collect();
        names.into_iter().map(str::to_owned).collect()
    }
}

/// The answer for a type without a schema.
pub trait Undescribed {
    /// Nothing is known.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<T> Undescribed for Flattened<T> {}

/// The answer for a field that is not flattened.
#[must_use]
pub fn none() -> Vec<String> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only described")]
    struct Audit {
        #[schemars(rename = "changedBy")]
        changed_by: u32,
        inner: Option<Box<Self>>,
    }

    #[derive(JsonSchema)]
    #[schemars(tag = "kind")]
    #[expect(dead_code, reason = "only described")]
    enum Pay {
        Card { last: String },
        Cash,
    }

    struct Opaque;

    #[test]
    fn a_type_with_a_schema_tells_its_names_and_others_none() {
        assert_eq!(Flattened::<Audit>::OF.names(), ["changedBy", "inner"]);
        assert_eq!(Flattened::<Option<Audit>>::OF.names(), ["changedBy", "inner"]);
        assert_eq!(Flattened::<Pay>::OF.names(), ["kind", "last"]);
        assert_eq!(Flattened::<HashMap<String, u32>>::OF.names(), [""; 0]);
        assert_eq!(Flattened::<Opaque>::OF.names(), [""; 0]);
    }
}
