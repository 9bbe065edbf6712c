//! JSON Schemas (2020-12), made from the same tables that the engine uses.
//!
//! `schema/*.json` contain these values; a test compares them, and `CROSIER_GENERATE=1` writes them. They do not cover
//! what needs other knowledge, such as whether two hooks share a name or a file exists: `crosier check` does.

mod config;
mod event;
mod outcome;
mod reply;
mod rpc;

use crosier::protocol::json;
use crosier::protocol::ordered::{Map, Value};

pub(crate) use config::config;
pub(crate) use event::event;
pub(crate) use outcome::outcome;
pub(crate) use reply::reply;
pub(crate) use rpc::rpc;

/// The beginning of every schema.
fn root(name: &str, title: &str, about: &str) -> Map {
    let id = format!("{}/schema/{name}.json", env!("CARGO_PKG_REPOSITORY"));
    let entries = [
        ("$schema", "https://json-schema.org/draft/2020-12/schema"),
        ("$id", &id),
        ("title", title),
        ("description", about),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

/// A root, followed by the keywords of this object.
fn with(mut root: Map, keywords: Value) -> Value {
    if let Value::Object(keywords) = keywords {
        root.extend(keywords);
    }
    root.into()
}

/// The same schema with a description.
fn about(mut schema: Value, about: &str) -> Value {
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), about.into());
    }
    schema
}

/// The same schema, or null.
fn or_null(schema: Value) -> Value {
    match (schema.get("type").cloned(), schema.get("enum").cloned()) {
        (_, Some(Value::Array(mut words))) => {
            words.push(Value::Null);
            json!({ "enum": words })
        }
        (Some(Value::String(name)), None) => {
            let mut schema = schema;
            schema["type"] = json!([name, "null"]);
            schema
        }
        (Some(Value::Array(mut names)), None) => {
            names.push("null".into());
            let mut schema = schema;
            schema["type"] = names.into();
            schema
        }
        _ => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

/// `properties` from names and schemas, in this order.
fn properties<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Value {
    Value::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}
