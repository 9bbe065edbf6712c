//! The input of a tool, read strictly.
//!
//! Input: the JSON that a model wrote and hooks have seen. Output: its members. A key that the tool does not
//! know or that occurs twice is refused: a hook that checked one of two values may have missed the other.
//! The field names of Claude Code's tools are accepted too.

use std::borrow::Cow;

use crosier::Json;

use super::ToolError;

/// Claude Code's names for fields, and Crosier's. A member under either name is the same member.
const OTHER_NAMES: [(&str, &str); 4] =
    [("file_path", "path"), ("old_string", "old"), ("new_string", "new"), ("replace_all", "all")];

/// The members of an input, by Crosier's names.
#[derive(Debug)]
pub(super) struct Arguments(Vec<(String, Json)>);

impl Arguments {
    pub(super) fn read(input: &Json, known: &[&str]) -> Result<Self, ToolError> {
        let mut entries = input.entries().ok_or_else(|| {
            ToolError::new(format!("the input must be an object, not {}", input.kind_word()))
        })?;
        for (key, _) in &mut entries {
            let ours = OTHER_NAMES.iter().find(|(theirs, ours)| theirs == key && known.contains(ours));
            if let Some((_, ours)) = ours {
                *key = (*ours).to_owned();
            }
        }
        for (at, (key, _)) in entries.iter().enumerate() {
            if !known.contains(&key.as_str()) {
                let known = known.join("`, `");
                return Err(ToolError::new(format!("unknown key `{key}` in the input; there are `{known}`")));
            }
            if entries[..at].iter().any(|(earlier, _)| earlier == key) {
                return Err(ToolError::new(format!("the key `{key}` appears twice in the input")));
            }
        }
        Ok(Self(entries))
    }

    fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(name, value)| name == key && !value.is_null()).map(|(_, value)| value)
    }

    /// A required text.
    pub(super) fn text(&self, key: &str) -> Result<Cow<'_, str>, ToolError> {
        self.optional_text(key)?.ok_or_else(|| ToolError::new(format!("the input needs `{key}`")))
    }

    pub(super) fn optional_text(&self, key: &str) -> Result<Option<Cow<'_, str>>, ToolError> {
        let wrong = |value: &Json| ToolError::new(format!("`{key}` must be text, not {}", value.kind_word()));
        self.get(key).map(|value| value.as_str().ok_or_else(|| wrong(value))).transpose()
    }

    /// An integer of at least 1.
    pub(super) fn count(&self, key: &str) -> Result<Option<usize>, ToolError> {
        let wrong = || ToolError::new(format!("`{key}` must be a whole number from 1"));
        let Some(value) = self.get(key) else { return Ok(None) };
        value.text().parse().ok().filter(|&number: &usize| number > 0).map(Some).ok_or_else(wrong)
    }

    /// A number of seconds.
    pub(super) fn seconds(&self, key: &str) -> Result<Option<std::time::Duration>, ToolError> {
        let wrong = || ToolError::new(format!("`{key}` must be a number of seconds over 0"));
        let Some(value) = self.get(key) else { return Ok(None) };
        let seconds = value.text().parse().ok().filter(|&seconds: &f64| seconds > 0.0);
        let duration = seconds.and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok());
        duration.map(Some).ok_or_else(wrong)
    }

    /// True or false; false when it is missing.
    pub(super) fn flag(&self, key: &str) -> Result<bool, ToolError> {
        match self.get(key).map(Json::text) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(ToolError::new(format!("`{key}` must be true or false"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Arguments, ToolError> {
        Arguments::read(&Json::parse(text).unwrap(), &["path", "limit", "all"])
    }

    fn message<T: std::fmt::Debug>(result: Result<T, ToolError>) -> String {
        result.unwrap_err().message
    }

    #[test]
    fn members_are_read_by_kind() {
        let arguments = read(r#"{"path":"a\"b","limit":3,"all":true}"#).unwrap();
        assert_eq!(arguments.text("path").unwrap(), "a\"b");
        assert_eq!(arguments.count("limit").unwrap(), Some(3));
        assert!(arguments.flag("all").unwrap());
        let arguments = read(r#"{"limit":null}"#).unwrap();
        assert_eq!(arguments.count("limit").unwrap(), None);
        assert_eq!(message(arguments.text("path")), "the input needs `path`");
    }

    #[test]
    fn bad_input_is_refused_with_its_key() {
        assert_eq!(message(read("[1]")), "the input must be an object, not a list");
        assert_eq!(message(read(r#"{"path":"a","path":"b"}"#)), "the key `path` appears twice in the input");
        assert_eq!(
            message(read(r#"{"folder":"a"}"#)),
            "unknown key `folder` in the input; there are `path`, `limit`, `all`"
        );
        let arguments = read(r#"{"path":1,"limit":0,"all":"yes"}"#).unwrap();
        assert_eq!(message(arguments.text("path")), "`path` must be text, not a number");
        assert_eq!(message(arguments.count("limit")), "`limit` must be a whole number from 1");
        assert_eq!(message(arguments.seconds("limit")), "`limit` must be a number of seconds over 0");
        assert_eq!(message(arguments.flag("all")), "`all` must be true or false");
    }

    #[test]
    fn the_field_names_of_claude_code_are_accepted_and_both_names_at_once_are_not() {
        let arguments = read(r#"{"file_path":"a","replace_all":true}"#).unwrap();
        assert_eq!(arguments.text("path").unwrap(), "a");
        assert!(arguments.flag("all").unwrap());
        assert_eq!(
            message(read(r#"{"path":"a","file_path":"b"}"#)),
            "the key `path` appears twice in the input"
        );
        assert!(message(read(r#"{"old_string":"a"}"#)).contains("unknown key `old_string`"));
    }
}
