//! [`Json`]: a JSON value kept as its original text.
//!
//! Parts of a payload that the engine does not read (a tool's input, its response) stay text. Digits of large
//! integers, key order and depth are kept, and nothing is parsed or copied per hook. Cloning increments a
//! reference count.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::same::is_same;

/// One JSON value, as text. Always valid JSON.
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

static NULL: LazyLock<Json> = LazyLock::new(|| Json(Arc::from(RawValue::NULL.to_owned())));

impl Json {
    /// The value `null`.
    #[must_use]
    pub fn null() -> Self {
        NULL.clone()
    }

    /// Reads one JSON value; the error says where it stops being JSON.
    ///
    /// # Errors
    /// When `text` is not exactly one JSON value.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<Box<RawValue>>(text).map(|raw| Self(raw.into()))
    }

    /// The text, without surrounding white space.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// What kind of value this is, as a word for messages.
    #[must_use]
    pub fn kind_word(&self) -> &'static str {
        kind_word(self.text())
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }

    /// Whether this is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.text().starts_with('{')
    }

    /// The string, if this value is one. A lone surrogate becomes U+FFFD.
    #[must_use]
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        string_of(self.text())
    }

    /// The value as text to show: a string without its quotes, anything else as JSON.
    #[must_use]
    pub fn plain(&self) -> Cow<'_, str> {
        plain(self.text())
    }

    /// The member `key` of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Self> {
        self.entries()?.into_iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The members of an object in the order they were written; `None` when it is not an object.
    #[must_use]
    pub fn entries(&self) -> Option<Vec<(String, Self)>> {
        let entries = self.as_json_ref().entries()?;
        Some(entries.into_iter().map(|(name, value)| (name.into_owned(), value.to_json())).collect())
    }

    /// A borrowed view of the value.
    pub(crate) fn as_json_ref(&self) -> JsonRef<'_> {
        JsonRef(&self.0)
    }

    /// Parses into a tree. `None` when it is nested too deeply or holds a number out of range: such
    /// values can be passed on, but not inspected. A lone surrogate becomes U+FFFD.
    #[must_use]
    pub fn to_value(&self) -> Option<Value> {
        from_text(self.text()).ok()
    }

    /// Like [`Json::to_value`], with the members of objects in the order of the text.
    #[must_use]
    pub fn to_ordered(&self) -> Option<crate::ordered::Value> {
        from_text(self.text()).ok()
    }
}

/// Reads a value from JSON; lone surrogates become U+FFFD.
pub(crate) fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| {
        let readable = without_lone_surrogates(text);
        if readable == text { Err(error) } else { serde_json::from_str(&readable) }
    })
}

/// One JSON value, borrowed from a longer text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonRef<'a>(&'a RawValue);

impl<'a> JsonRef<'a> {
    pub(crate) fn text(self) -> &'a str {
        self.0.get()
    }

    pub(crate) fn kind_word(self) -> &'static str {
        kind_word(self.text())
    }

    pub(crate) fn is_null(self) -> bool {
        self.text() == "null"
    }

    pub(crate) fn is_object(self) -> bool {
        self.text().starts_with('{')
    }

    pub(crate) fn as_str(self) -> Option<Cow<'a, str>> {
        string_of(self.text())
    }

    /// See [`Json::entries`].
    pub(crate) fn entries(self) -> Option<Entries<'a>> {
        if self.is_object() { readable_entries(self.text()).ok() } else { None }
    }

    /// The elements, if it is a list.
    pub(crate) fn elements(self) -> Option<Vec<Self>> {
        let elements: Vec<&RawValue> = serde_json::from_str(self.text()).ok()?;
        Some(elements.into_iter().map(JsonRef).collect())
    }

    pub(crate) fn to_json(self) -> Json {
        Json(self.0.to_owned().into())
    }
}

/// Members of an object, in order.
pub(crate) type Entries<'a> = Vec<(Cow<'a, str>, JsonRef<'a>)>;

/// Like [`object_entries`], but without copies, and lone surrogates in names become U+FFFD. Values stay as they
/// are.
pub(crate) fn readable_entries(text: &str) -> Result<Entries<'_>, serde_json::Error> {
    let named = members::<Name<'_>, &RawValue>(text);
    let named =
        named.map(|entries| entries.into_iter().map(|(name, value)| (name.0, JsonRef(value))).collect());
    named.or_else(|_| {
        let entries = members::<&RawValue, &RawValue>(text)?;
        Ok(entries.into_iter().map(|(name, value)| (plain(name.get()), JsonRef(value))).collect())
    })
}

/// Members of one JSON object, in order, values as text. Duplicates are kept, for the caller to handle.
pub(crate) fn object_entries(text: &str) -> Result<Vec<(String, Json)>, serde_json::Error> {
    members(text)
}

pub(crate) fn members<'a, N: Deserialize<'a>, V: Deserialize<'a>>(
    text: &'a str,
) -> Result<Vec<(N, V)>, serde_json::Error> {
    struct Members<N, V>(PhantomData<(N, V)>);
    impl<'de, N: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Members<N, V> {
        type Value = Vec<(N, V)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let entries = reader.deserialize_map(Members(PhantomData))?;
    reader.end()?;
    Ok(entries)
}

/// The name of a member, copied only if it contains an escape.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        from.deserialize_str(Text)
    }
}

pub(crate) fn kind_word(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "text",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Like [`Json::plain`].
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    string_of(text).unwrap_or(Cow::Borrowed(text))
}

fn string_of(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    from_text(text).ok().map(Cow::Owned)
}

/// Replaces lone surrogates with U+FFFD. A model can write half of a surrogate pair. If that made the text
/// unreadable, those six characters would be enough to hide the rest from a guard.
pub(crate) fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let unit = |at: usize| -> Option<u32> {
        let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(hex, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(ahead) = text[at..].find('\\') {
        out.push_str(&text[at..at + ahead]);
        at += ahead;
        let take = match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str("\\ufffd");
                at += 6;
                continue;
            }
            (Some(_), _) => 6,
            // The backslash and the character that it escapes, which can be any character in bad JSON.
            (None, _) => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
        let end = (at + take).min(text.len());
        out.push_str(&text[at..end]);
        at = end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

impl Default for Json {
    fn default() -> Self {
        Self::null()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Ignores white space, key order and escapes. Objects with duplicate keys, and values that are nested very deep, are
/// compared as text.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        is_same(self.text(), other.text())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        // A `Value` is always valid JSON: its keys are strings and its numbers are finite.
        serde_json::value::to_raw_value(value).map_or_else(|_| Self::null(), |raw| Self(raw.into()))
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::from(Value::from(text))
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::from(Value::from(text))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(from).map(|raw| Self(raw.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_order_and_spacing_survive() {
        let text = r#"{"z": 123456789012345678901234567890, "a":1.50}"#;
        let json = Json::parse(text).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), text);
        assert_eq!(json.get("z").unwrap().text(), "123456789012345678901234567890");
    }

    #[test]
    fn any_depth_is_carried() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        let json = Json::parse(&deep).unwrap();
        assert_eq!(json.text(), deep);
        assert_eq!(json.to_value(), None);
    }

    #[test]
    fn a_lone_surrogate_is_replaced_and_the_rest_kept() {
        let json = Json::parse(r#""rm \ud800 -rf \ud83d\ude00 \\ud800 \udc00\n""#).unwrap();
        assert_eq!(json.as_str().unwrap(), "rm \u{fffd} -rf 😀 \\ud800 \u{fffd}\n");
    }

    #[test]
    fn equality_ignores_spacing() {
        assert_eq!(Json::parse("{ \"a\" : 1 }").unwrap(), Json::parse("{\"a\":1}").unwrap());
        assert_ne!(Json::parse("1").unwrap(), Json::parse("2").unwrap());
    }
}
