//! Strict JSON deserialization. serde accepts an array instead of a struct and assigns its elements to the fields in
//! order; a wrong body would change fields that it does not name. Here an array is never accepted as an object.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

/// A JSON value that rejects arrays instead of objects at every depth.
#[derive(Clone, Copy)]
pub struct StrictJson<'v>(pub &'v Value);

impl<'de> Deserializer<'de> for StrictJson<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.iter().map(Self));
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.as_str(), Self(value)));
                let mut fields = MapDeserializer::new(fields);
                let value = visitor.visit_map(&mut fields)?;
                fields.end()?;
                Ok(value)
            }
            plain => plain.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(_) => self.deserialize_any(visitor),
            _ => Err(Error::custom("must be an object")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for StrictJson<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct SampleGrade {
        points: Option<u32>,
        notes: Vec<SampleNote>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct SampleNote {
        text: String,
    }

    fn read(value: Value) -> Result<SampleGrade, Error> {
        SampleGrade::deserialize(StrictJson(&value))
    }

    #[test]
    fn strict_object_is_read_like_serde() -> Result<(), Error> {
        let value = json!({"points": 3, "notes": [{"text": "Good."}]});
        let note = SampleNote {
            text: "Good.".to_owned(),
        };
        let grade = SampleGrade {
            points: Some(3),
            notes: vec![note],
        };
        assert_eq!(read(value)?, grade);
        let empty = read(json!({"points": null, "notes": []}))?;
        assert_eq!((empty.points, empty.notes.len()), (None, 0));
        Ok(())
    }

    #[test]
    fn list_instead_of_object_is_rejected_at_any_depth() {
        for value in [
            json!([null, []]),
            json!({"points": 1, "notes": [["Good."]]}),
            json!("x"),
            json!(null),
        ] {
            let context = read(value.clone()).map_err(|error| error.to_string());
            let is_refused = matches!(&context, Err(context) if context.contains("must be an object"));
            assert!(is_refused, "{value}: {context:?}");
        }
    }
}
