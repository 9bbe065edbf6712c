//! JSON trees whose objects keep the order of their members.
//!
//! `serde_json` sorts the members of an object unless its feature `preserve_order` is on, and a library must
//! not turn that on: features are shared by the whole build, so it would change the host's own maps. Code
//! that writes JSON for people to read uses [`Value`], [`Map`] and [`json!`](crate::json!) instead. Names
//! follow `serde_json`.

mod macros;
mod map;
mod serde;

use std::fmt;
use std::ops::{Index, IndexMut};

use ::serde::Serialize;
pub use map::Map;
pub use serde_json::Number;

use crate::json::Json;

/// One JSON value as a tree. Equality of objects ignores order, as JSON does.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Value>),
    /// An object.
    Object(Map),
}

static NULL: Value = Value::Null;

impl Value {
    /// The JSON tree of anything that serde can serialize as JSON; `null` for anything else.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Self {
        serde_json::to_string(value)
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// The member `key` of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// The member `key` of an object.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        self.as_object_mut()?.get_mut(key)
    }

    /// The string, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The boolean, if it is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number, if it is one that fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        if let Self::Number(number) = self { number.as_u64() } else { None }
    }

    /// The number, if it is one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Number(number) = self { number.as_i64() } else { None }
    }

    /// The number, if it is one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    /// The elements, if it is a list.
    #[must_use]
    pub const fn as_array(&self) -> Option<&Vec<Self>> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The members, if it is an object.
    #[must_use]
    pub const fn as_object(&self) -> Option<&Map> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// The members, if it is an object.
    pub const fn as_object_mut(&mut self) -> Option<&mut Map> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// Whether it is a list.
    #[must_use]
    pub const fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether it is an object.
    #[must_use]
    pub const fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Whether it is `null`.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// The member `key`; `null` when there is none.
impl Index<&str> for Value {
    type Output = Self;
    fn index(&self, key: &str) -> &Self {
        self.get(key).unwrap_or(&NULL)
    }
}

/// The member `key`, added as `null` when there is none. A value that is not an object becomes one.
impl IndexMut<&str> for Value {
    fn index_mut(&mut self, key: &str) -> &mut Self {
        if !matches!(self, Self::Object(_)) {
            *self = Self::Object(Map::new());
        }
        match self {
            Self::Object(members) => members.entry(key),
            other => other,
        }
    }
}

/// The element at this index; `null` when there is none.
impl Index<usize> for Value {
    type Output = Self;
    fn index(&self, place: usize) -> &Self {
        self.as_array().and_then(|items| items.get(place)).unwrap_or(&NULL)
    }
}

/// As JSON on one line; `{:#}` on several.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written =
            if f.alternate() { serde_json::to_string_pretty(self) } else { serde_json::to_string(self) };
        f.write_str(&written.map_err(|_| fmt::Error)?)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        // Serializing cannot fail: keys are strings and numbers are finite.
        serde_json::to_string(value).ok().and_then(|text| Self::parse(&text).ok()).unwrap_or_default()
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        Self::of(json)
    }
}

macro_rules! from {
    ($($given:ty => $value:ident => $made:expr;)*) => {$(
        impl From<$given> for Value {
            fn from($value: $given) -> Self { $made }
        }
    )*};
}

from! {
    bool => value => Self::Bool(value);
    &str => text => Self::String(text.to_owned());
    String => text => Self::String(text);
    &String => text => Self::String(text.clone());
    Map => members => Self::Object(members);
    Number => number => Self::Number(number);
    u32 => number => Self::Number(number.into());
    u64 => number => Self::Number(number.into());
    i32 => number => Self::Number(number.into());
    i64 => number => Self::Number(number.into());
    usize => number => Self::Number(number.into());
    f64 => number => Number::from_f64(number).map_or(Self::Null, Self::Number);
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>> FromIterator<(K, Value)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(members: I) -> Self {
        Self::Object(members.into_iter().collect())
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<i32> for Value {
    fn eq(&self, number: &i32) -> bool {
        self.as_i64() == Some(i64::from(*number))
    }
}

impl PartialEq<bool> for Value {
    fn eq(&self, value: &bool) -> bool {
        self.as_bool() == Some(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn members_stay_in_the_order_in_which_they_were_written() {
        let list = [1, 2];
        let value = json!({
            "z": null,
            "a": { "y": true, "b": [null, "text", { "q": 1, "c": -1.5 }] },
            (format!("{}", "k")): list.map(|n| n + 1),
            "m": list.len(),
            "e": {},
            "l": [],
        });
        let text =
            r#"{"z":null,"a":{"y":true,"b":[null,"text",{"q":1,"c":-1.5}]},"k":[2,3],"m":2,"e":{},"l":[]}"#;
        assert_eq!(value.to_string(), text);
        assert_eq!(serde_json::from_str::<Value>(text).unwrap().to_string(), text);
        assert_eq!(Json::from(&value).text(), text);
        assert_eq!(Value::from(&Json::parse(text).unwrap()), value);
        assert_eq!((&value["a"]["y"], &value["none"]["none"]), (&Value::Bool(true), &Value::Null));
        assert_eq!(format!("{:#}", json!({"b": 1, "a": []})), "{\n  \"b\": 1,\n  \"a\": []\n}");
    }

    #[test]
    fn order_does_not_count_for_equality_and_the_last_of_two_members_wins() {
        assert_eq!(json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}));
        assert_ne!(json!({"a": 1, "b": 2}), json!({"a": 1}));
        let twice: Value = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(twice.to_string(), r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn a_large_object_is_read_in_linear_time() {
        let members: Vec<String> = (0..200_000).map(|n| format!("\"k{}\":{n}", n / 2)).collect();
        let value: Value = serde_json::from_str(&format!("{{{}}}", members.join(","))).unwrap();
        assert_eq!(value.as_object().unwrap().len(), 100_000);
        assert_eq!(value["k7"].as_u64(), Some(15));
    }

    #[test]
    fn a_member_can_be_set_moved_and_taken_out() {
        let mut value = json!({"a": 1});
        value["b"] = "new".into();
        let members = value.as_object_mut().unwrap();
        members.insert_first("first", 0_u64.into());
        members.insert("a", 2_u64.into());
        assert_eq!(members.remove("b"), Some("new".into()));
        assert_eq!(value.to_string(), r#"{"first":0,"a":2}"#);
    }
}
