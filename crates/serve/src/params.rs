//! The parameters of a request: no unknown ones, no duplicates, each of its type.

use std::path::PathBuf;
use std::time::Duration;

use crosier::Json;
use crosier::protocol::nearest::nearest;

use crate::error::RpcError;

/// Parameters that were checked against the names that a method knows. `null` counts as absent.
#[derive(Debug)]
pub(crate) struct Params(Vec<(String, Json)>);

type Read<T> = Result<T, RpcError>;

impl Params {
    pub(crate) fn read(params: Option<&Json>, known: &[&str]) -> Read<Self> {
        let Some(params) = params.filter(|params| !params.is_null()) else { return Ok(Self(Vec::new())) };
        let Some(entries) = params.entries() else {
            return Err(RpcError::params(
                "params",
                format!("`params` must be an object, not {}", params.kind_word()),
            ));
        };
        for (at, (name, _)) in entries.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let near = nearest(name, known.iter().copied());
                let near = near.map(|near| format!(", did you mean `{near}`?"));
                let text = format!("unknown parameter `{name:.80}`{}", near.unwrap_or_default());
                return Err(RpcError::params(name, text));
            }
            if entries[..at].iter().any(|(other, _)| other == name) {
                return Err(RpcError::params(name, format!("the parameter `{name}` appears twice")));
            }
        }
        Ok(Self(entries.into_iter().filter(|(_, value)| !value.is_null()).collect()))
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Json> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.swap_remove(at).1)
    }

    pub(crate) fn required(&mut self, name: &str) -> Read<Json> {
        self.take(name).ok_or_else(|| RpcError::params(name, format!("the parameter `{name}` is missing")))
    }

    pub(crate) fn text(&mut self, name: &str) -> Read<Option<String>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.as_str() {
            Some(text) => Ok(Some(text.into_owned())),
            None => Err(wrong(name, "a string", &value)),
        }
    }

    /// A required string that is not empty.
    pub(crate) fn word(&mut self, name: &str) -> Read<String> {
        let value = self.required(name)?;
        match value.as_str() {
            Some(text) if !text.is_empty() => Ok(text.into_owned()),
            Some(_) => Err(RpcError::params(name, format!("`{name}` is empty"))),
            None => Err(wrong(name, "a string", &value)),
        }
    }

    pub(crate) fn flag(&mut self, name: &str) -> Read<Option<bool>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.text() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(wrong(name, "true or false", &value)),
        }
    }

    pub(crate) fn integer(&mut self, name: &str) -> Read<Option<i64>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        value.text().parse().map(Some).map_err(|_| wrong(name, "an integer", &value))
    }

    /// A time in milliseconds, more than zero.
    pub(crate) fn millis(&mut self, name: &str) -> Read<Option<Duration>> {
        match self.integer(name)? {
            None => Ok(None),
            Some(time) if time > 0 => Ok(Some(Duration::from_millis(time.unsigned_abs()))),
            Some(_) => Err(RpcError::params(name, format!("`{name}` must be more than 0"))),
        }
    }

    /// An absolute path.
    pub(crate) fn folder(&mut self, name: &str) -> Read<Option<PathBuf>> {
        match self.text(name)?.map(PathBuf::from) {
            Some(path) if !path.is_absolute() => {
                Err(RpcError::params(name, format!("`{name}` must be an absolute path")))
            }
            path => Ok(path),
        }
    }

    pub(crate) fn texts(&mut self, name: &str) -> Read<Option<Vec<String>>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let texts = serde_json::from_str::<Vec<String>>(value.text());
        texts.map(Some).map_err(|_| wrong(name, "a list of strings", &value))
    }

    /// Absolute paths.
    pub(crate) fn paths(&mut self, name: &str) -> Read<Option<Vec<PathBuf>>> {
        let paths = self.texts(name)?.map(|texts| texts.into_iter().map(PathBuf::from).collect::<Vec<_>>());
        match &paths {
            Some(all) if all.iter().any(|path| !path.is_absolute()) => {
                Err(RpcError::params(name, format!("`{name}` must be absolute paths")))
            }
            _ => Ok(paths),
        }
    }

    /// Names and values of environment variables, sorted.
    pub(crate) fn variables(&mut self, name: &str) -> Read<Option<Vec<(String, String)>>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let variables = serde_json::from_str::<std::collections::BTreeMap<String, String>>(value.text());
        let variables = variables.map(|variables| Some(variables.into_iter().collect()));
        variables.map_err(|_| wrong(name, "an object of strings", &value))
    }
}

fn wrong(name: &str, wanted: &str, value: &Json) -> RpcError {
    RpcError::params(name, format!("`{name}` must be {wanted}, not {}", value.kind_word()))
}
