//! Edit: replaces a part of a file.

use crosier::Json;
use crosier::protocol::json;

use super::arguments::Arguments;
use super::workspace::{FILE_LIMIT, Workspace};
use super::write::put;
use super::{FileWrite, Risk, Tool, ToolContext, ToolError, ToolFuture, ToolSpec};

/// Replaces text in a file of the workspace.
#[derive(Debug)]
pub struct Edit(ToolSpec);

impl Edit {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = "Replaces `old` by `new` in a text file of the workspace. `old` must be in the file \
            exactly once, with its white space; with `all`, every place is replaced.";
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "the file, relative to the workspace"},
                "old": {"type": "string", "description": "the text to replace"},
                "new": {"type": "string", "description": "the new text"},
                "all": {"type": "boolean", "description": "replace every place"},
            },
            "required": ["path", "old", "new"],
            "additionalProperties": false,
        });
        Self(ToolSpec {
            name: "Edit".to_owned(),
            description: description.to_owned(),
            input_schema: Json::from(schema),
        })
    }
}

impl Default for Edit {
    fn default() -> Self {
        Self::new()
    }
}

fn plan(input: &Json, context: &ToolContext) -> Result<FileWrite, ToolError> {
    let arguments = Arguments::read(input, &["path", "old", "new", "all"])?;
    let named = arguments.text("path")?;
    let workspace = Workspace::open(&context.workspace)?;
    // Checked first, so that a path that may not be written is refused before its content is read.
    let path = workspace.check_write(&named, b"")?;
    let text = workspace.read_text(&named)?;
    let places = if arguments.flag("all")? { Occurrences::All } else { Occurrences::One };
    let (content, count) = replace(&text, &arguments.text("old")?, &arguments.text("new")?, places)
        .map_err(|why| ToolError::new(format!("`{named}` {why}")))?;
    workspace.check_write(&named, content.as_bytes())?;
    let report = match count {
        1 => format!("edited {path}: replaced 1 place"),
        count => format!("edited {path}: replaced {count} places"),
    };
    Ok(FileWrite { path, content, report })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occurrences {
    One,
    All,
}

/// The new text and the number of replaced places, or why it was not edited.
fn replace(text: &str, old: &str, new: &str, places: Occurrences) -> Result<(String, usize), String> {
    if old.is_empty() {
        return Err("was not edited: `old` is empty; use Write for a whole file".to_owned());
    }
    if old == new {
        return Err("was not edited: `old` and `new` are the same".to_owned());
    }
    match (text.matches(old).count(), places) {
        (0, _) if text.contains(&old.replace('\n', "\r\n")) => {
            Err("does not contain `old`: its lines end in carriage return and newline".to_owned())
        }
        (0, _) => Err("does not contain `old`; read it again and copy the text exactly".to_owned()),
        (count, Occurrences::One) if count > 1 => {
            Err(format!("contains `old` {count} times; add lines around it until it is unique, or set `all`"))
        }
        (count, _) => {
            // Many replacements with a long `new` could exhaust the memory.
            let size = count.saturating_mul(new.len()).saturating_add(text.len()) as u64;
            if size > 2 * FILE_LIMIT {
                return Err(format!("was not edited: it would be too large, about {size} bytes"));
            }
            Ok((text.replace(old, new), count))
        }
    }
}

impl Tool for Edit {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn risk(&self) -> Risk {
        Risk::Edit
    }

    fn write(&self, input: &Json, context: &ToolContext) -> Option<Result<FileWrite, ToolError>> {
        Some(plan(input, context))
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> ToolFuture<'a> {
        Box::pin(async move { put(plan(input, context)?, context).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_must_be_one() {
        assert_eq!(replace("a b", "b", "c", Occurrences::One), Ok(("a c".to_owned(), 1)));
        let why = replace("b b b", "b", "c", Occurrences::One).unwrap_err();
        assert!(why.starts_with("contains `old` 3 times"), "{why}");
        assert_eq!(replace("b b b", "b", "c", Occurrences::All), Ok(("c c c".to_owned(), 3)));
    }

    #[test]
    fn what_cannot_be_replaced_says_why() {
        let why = |old, new| replace("a\r\nb", old, new, Occurrences::All).unwrap_err();
        assert!(why("x", "y").contains("copy the text exactly"));
        assert!(why("a\nb", "y").contains("carriage return"));
        assert!(why("", "y").contains("use Write"));
        assert!(why("a", "a").contains("the same"));
        let (text, new) = ("a".repeat(1 << 20), "b".repeat(1 << 20));
        assert!(replace(&text, "a", &new, Occurrences::All).unwrap_err().contains("too large"));
    }
}
