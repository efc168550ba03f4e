//! A deserializer over a JSON value that takes note of the names it is asked for.

use super::{About, note};
use crate::contract::MEMBERS;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use std::fmt;

/// A part of a payload, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Part<'de, 'p> {
    value: &'de Value,
    at: Place<'p>,
}

/// A place in a payload, from the inside out.
#[derive(Clone, Copy)]
enum Place<'p> {
    Whole,
    Member(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    /// The next of the members here that are the type's own.
    fn next_own<'de>(&self, members: &mut serde_json::map::Iter<'de>) -> Option<(&'de String, &'de Value)> {
        let is_whole = matches!(self, Self::Whole);
        members.find(|(name, _)| !(is_whole && MEMBERS.contains(&name.as_str())))
    }

    fn pointer(&self) -> String {
        match self {
            Self::Whole => String::new(),
            Self::Member(outer, name) => {
                format!("{}/{}", outer.pointer(), name.replace('~', "~0").replace('/', "~1"))
            }
            Self::Item(outer, index) => format!("{}/{index}", outer.pointer()),
        }
    }
}

impl<'de> Part<'de, '_> {
    /// A whole payload; the type has no part in the members of every payload.
    pub(super) fn whole(value: &'de Value) -> Self {
        Self { value, at: Place::Whole }
    }

    fn note(&self, names: &'static [&'static str]) {
        note(About::Place(self.at.pointer()), names);
    }
}

/// A value that was refused; why is of no interest here.
#[derive(Debug)]
pub(super) struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused")
    }
}

impl std::error::Error for Refused {}

impl Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        note(About::Name(variant.to_owned()), expected);
        Self
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        note(About::Name(field.to_owned()), expected);
        Self
    }
}

impl<'de> Deserializer<'de> for Part<'de, '_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_i128()) {
                (Some(number), ..) => visitor.visit_u64(number),
                (None, Some(number), _) => visitor.visit_i64(number),
                (None, None, Some(number)) => visitor.visit_i128(number),
                _ => visitor.visit_f64(number.as_f64().ok_or(Refused)?),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => visitor.visit_seq(Items { items, at: &self.at, next: 0 }),
            Value::Object(members) => {
                visitor.visit_map(Members { members: members.iter(), at: &self.at, value: None })
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.note(fields);
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.note(variants);
        match self.value {
            Value::String(name) => visitor.visit_enum(BorrowedStrDeserializer::new(name)),
            Value::Object(members) => {
                let (name, content) = self.at.next_own(&mut members.iter()).ok_or(Refused)?;
                let content = Part { value: content, at: Place::Member(&self.at, name) };
                visitor.visit_enum(Variant { name, content })
            }
            _ => Err(Refused::invalid_type(Unexpected::Other("no enum"), &"a variant")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct Items<'de, 'p> {
    items: &'de [Value],
    at: &'p Place<'p>,
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de, '_> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refused> {
        let Some(value) = self.items.get(self.next) else { return Ok(None) };
        let at = Place::Item(self.at, self.next);
        self.next += 1;
        seed.deserialize(Part { value, at }).map(Some)
    }
}

struct Members<'de, 'p> {
    members: serde_json::map::Iter<'de>,
    at: &'p Place<'p>,
    /// The member whose name was handed out.
    value: Option<(&'de str, &'de Value)>,
}

impl<'de> MapAccess<'de> for Members<'de, '_> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        let Some((name, value)) = self.at.next_own(&mut self.members) else { return Ok(None) };
        self.value = Some((name, value));
        seed.deserialize(Key(name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refused> {
        let (name, value) = self.value.take().ok_or(Refused)?;
        seed.deserialize(Part { value, at: Place::Member(self.at, name) })
    }
}

/// A variant with its content.
struct Variant<'de, 'p> {
    name: &'de str,
    content: Part<'de, 'p>,
}

impl<'de, 'p> EnumAccess<'de> for Variant<'de, 'p> {
    type Error = Refused;
    type Variant = Part<'de, 'p>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self::Variant), Refused> {
        Ok((seed.deserialize(BorrowedStrDeserializer::new(self.name))?, self.content))
    }
}

impl<'de> VariantAccess<'de> for Part<'de, '_> {
    type Error = Refused;

    fn unit_variant(self) -> Result<(), Refused> {
        if self.value.is_null() { Ok(()) } else { Err(Refused) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Refused> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.note(fields);
        self.deserialize_any(visitor)
    }
}

/// The name of a member, which a map may read as a number or a truth value.
struct Key<'de>(&'de str);

/// Reads the name as what was asked for, and as a text where it is none.
macro_rules! parsed {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
            match self.0.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => visitor.visit_borrowed_str(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    parsed! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8
        deserialize_i16 visit_i16
        deserialize_i32 visit_i32
        deserialize_i64 visit_i64
        deserialize_i128 visit_i128
        deserialize_u8 visit_u8
        deserialize_u16 visit_u16
        deserialize_u32 visit_u32
        deserialize_u64 visit_u64
        deserialize_u128 visit_u128
        deserialize_f32 visit_f32
        deserialize_f64 visit_f64
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
