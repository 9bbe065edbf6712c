//! Serializes a payload field by field.
//!
//! Input: anything that serde writes as a struct or a map. Output: the name and the JSON of each field. Each value is
//! written straight to its destination: serializing the whole struct and splitting the text again would delay every
//! event that goes to a process.

use serde::Serialize;
use serde::ser::{Error as _, Impossible, SerializeMap, SerializeStruct, Serializer};
use serde_json::Error;

use crate::json::Json;

/// Receives the fields of a payload, one at a time.
pub(crate) trait FieldSink {
    /// Where the JSON of this field is to be written; `None` when it is not wanted.
    fn begin(&mut self, name: &str) -> Option<&mut Vec<u8>>;
    /// Called when the field has been written.
    fn end(&mut self, name: &str);
}

/// Passes the fields of a payload to `sink`, in order.
pub(crate) fn serialize_fields(payload: &impl Serialize, sink: &mut dyn FieldSink) -> Result<(), Error> {
    payload.serialize(FieldSerializer { sink, key: None })
}

/// A sink that collects every field with its value.
#[derive(Default)]
pub(crate) struct FieldList {
    pub(crate) all: Vec<(String, Json)>,
    /// The JSON of the field that is being written.
    value: Vec<u8>,
}

impl FieldSink for FieldList {
    fn begin(&mut self, _: &str) -> Option<&mut Vec<u8>> {
        self.value.clear();
        Some(&mut self.value)
    }

    fn end(&mut self, name: &str) {
        // serde wrote it, so it is valid JSON.
        let value = std::str::from_utf8(&self.value).ok().and_then(|text| Json::parse(text).ok());
        self.all.push((name.to_owned(), value.unwrap_or_default()));
    }
}

struct FieldSerializer<'a> {
    sink: &'a mut dyn FieldSink,
    /// The key of the map entry whose value comes next.
    key: Option<String>,
}

impl FieldSerializer<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        if let Some(out) = self.sink.begin(name) {
            serde_json::to_writer(out, value)?;
            self.sink.end(name);
        }
        Ok(())
    }
}

impl SerializeStruct for FieldSerializer<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.field(name, value)
    }
    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

/// serde writes a struct with `#[serde(flatten)]` as a map.
impl SerializeMap for FieldSerializer<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        match serde_json::to_value(key)? {
            serde_json::Value::String(key) => self.key = Some(key),
            other => self.key = Some(other.to_string()),
        }
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = self.key.take().unwrap_or_default();
        self.field(&key, value)
    }
    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

/// Only structs and maps have named fields; everything else is an error.
macro_rules! refuse {
    ($($method:ident($($kind:ty),*) -> $made:ty;)*) => {$(
        fn $method(self $(, _: $kind)*) -> Result<$made, Error> {
            Err(Error::custom("the payload of an event must be a struct or a map"))
        }
    )*};
}

impl Serializer for FieldSerializer<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), Error>;

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self, Error> {
        Ok(self)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        inner: &T,
    ) -> Result<(), Error> {
        inner.serialize(self)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, inner: &T) -> Result<(), Error> {
        inner.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        self.serialize_unit()
    }

    refuse! {
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_str(&str) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name=json` of every field that is not called `unwanted`.
    #[derive(Default)]
    struct Written(Vec<u8>);

    impl FieldSink for Written {
        fn begin(&mut self, name: &str) -> Option<&mut Vec<u8>> {
            (name != "unwanted").then(|| {
                self.0.extend_from_slice(name.as_bytes());
                self.0.push(b'=');
                &mut self.0
            })
        }
        fn end(&mut self, _: &str) {
            self.0.push(b' ');
        }
    }

    fn written(payload: &impl Serialize) -> String {
        let mut sink = Written::default();
        match serialize_fields(payload, &mut sink) {
            Ok(()) => String::from_utf8(sink.0).unwrap(),
            Err(error) => error.to_string(),
        }
    }

    #[derive(Serialize)]
    struct Plain {
        a: u8,
        unwanted: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<u8>,
        json: Json,
    }

    #[derive(Serialize)]
    struct Flat<T> {
        first: &'static str,
        #[serde(flatten)]
        rest: T,
    }

    #[test]
    fn structs_and_maps_come_apart_and_nothing_else() {
        let json = Json::parse(r#"{"z": 1.50}"#).unwrap();
        let plain = Plain { a: 1, unwanted: "x", absent: None, json };
        assert_eq!(written(&plain), r#"a=1 json={"z": 1.50} "#);
        assert_eq!(written(&Some(&plain)), written(&plain));
        let mut fields = FieldList::default();
        serialize_fields(&plain, &mut fields).unwrap();
        let fields: Vec<String> = fields.all.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(fields, ["a=1", "unwanted=\"x\"", "json={\"z\": 1.50}"]);
        let map = std::collections::BTreeMap::from([(7, "seven"), (8, "eight")]);
        assert_eq!(written(&map), r#"7="seven" 8="eight" "#);
        assert_eq!(written(&Flat { first: "f", rest: plain }), r#"first="f" a=1 json={"z": 1.50} "#);
        for refused in [written(&1), written(&"text"), written(&[1]), written(&None::<u8>), written(&())] {
            assert!(refused.contains("must be a struct or a map"), "{refused}");
        }
    }
}
