//! Reading parts of JSON that is kept as text, and writing JSON.

use std::fmt;

use crosier_protocol::Json;
use serde::Deserializer;
use serde::de::{MapAccess, Visitor};

/// Members of an object, in order.
pub(crate) type Fields = Vec<(String, Json)>;

/// The members of the object in this text, in one pass. Duplicate names are kept.
pub(crate) fn members(text: &str) -> Result<Fields, serde_json::Error> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Fields;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
            let mut all = Vec::with_capacity(16);
            while let Some(member) = map.next_entry()? {
                all.push(member);
            }
            Ok(all)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let all = reader.deserialize_map(Members)?;
    reader.end()?;
    Ok(all)
}

/// The value at a path: names separated by dots; a number is an index into a list.
pub(crate) fn at(fields: &[(String, Json)], path: &str) -> Option<Json> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let value = &fields.iter().find(|(name, _)| name == first)?.1;
    match rest {
        None => Some(value.clone()),
        Some(rest) => inside(value, rest),
    }
}

/// The value at a path inside a value.
pub(crate) fn inside(value: &Json, path: &str) -> Option<Json> {
    path.split('.').try_fold(value.clone(), |value, name| match name.parse::<usize>() {
        Ok(place) => elements(&value)?.into_iter().nth(place),
        Err(_) => value.get(name),
    })
}

/// The elements of a list.
pub(crate) fn elements(value: &Json) -> Option<Vec<Json>> {
    if value.text().starts_with('[') { serde_json::from_str(value.text()).ok() } else { None }
}

/// The member with this name.
pub(crate) fn find<'a>(fields: &'a [(String, Json)], name: &str) -> Option<&'a Json> {
    fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// The member at a path, if it is a string.
pub(crate) fn text(fields: &[(String, Json)], path: &str) -> Option<String> {
    at(fields, path)?.as_str().map(|text| text.into_owned())
}

/// A JSON object of these members.
pub(crate) fn object<'a, N: AsRef<str> + 'a>(members: impl IntoIterator<Item = &'a (N, Json)>) -> Json {
    let mut out = String::from("{");
    for (name, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        write_text(name.as_ref(), &mut out);
        out.push(':');
        out.push_str(value.text());
    }
    out.push('}');
    whole(&out)
}

/// A JSON list of these values.
pub(crate) fn list(values: &[Json]) -> Json {
    let values: Vec<&str> = values.iter().map(Json::text).collect();
    whole(&format!("[{}]", values.join(",")))
}

/// A text in quotes.
pub(crate) fn write_text(text: &str, out: &mut String) {
    // Serializing a string cannot fail.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Wraps a text that was assembled from valid JSON, and so is valid itself.
pub(crate) fn whole(text: &str) -> Json {
    Json::parse(text).unwrap_or_default()
}

/// The text of a value for a model: a string as it is, the texts of a list of content blocks joined, the value at
/// one of these paths of an object; otherwise the JSON.
pub(crate) fn readable(value: &Json, text_paths: &[&str]) -> String {
    if let Some(text) = value.as_str() {
        return text.into_owned();
    }
    if let Some(elements) = elements(value) {
        let texts: Option<Vec<String>> = elements
            .iter()
            .map(|element| {
                let text = element.get("text").unwrap_or_else(|| element.clone());
                text.as_str().map(|text| text.into_owned())
            })
            .collect();
        if let Some(texts) = texts.filter(|texts| !texts.is_empty()) {
            return texts.join("\n");
        }
    }
    let found = text_paths.iter().chain(&["content"]).find_map(|path| inside(value, path));
    match found {
        Some(found) if found.as_str().is_some() || elements(&found).is_some() => readable(&found, &[]),
        _ => value.text().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn paths_go_through_objects_and_lists() {
        let fields = json(r#"{"a":{"b":[1,{"c":"x"}]}}"#).entries().unwrap();
        assert_eq!(at(&fields, "a.b.1.c").unwrap().text(), "\"x\"");
        assert!(at(&fields, "a.b.2").is_none() && at(&fields, "a.x.y").is_none());
    }

    #[test]
    fn text_for_a_model_is_found_where_it_is() {
        assert_eq!(readable(&json("\"a\""), &[]), "a");
        assert_eq!(readable(&json(r#"[{"type":"text","text":"a"},{"text":"b"}]"#), &[]), "a\nb");
        assert_eq!(readable(&json(r#"{"llmContent":[{"text":"a"}]}"#), &["llmContent"]), "a");
        assert_eq!(readable(&json(r#"{"content":[{"text":"a"}]}"#), &[]), "a");
        assert_eq!(readable(&json(r#"{"x":1}"#), &["llmContent"]), r#"{"x":1}"#);
        assert_eq!(readable(&json("[]"), &[]), "[]");
    }
}
