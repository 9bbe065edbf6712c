//! Read: a text file, with line numbers.

use std::fmt::Write as _;

use crosier::Json;
use crosier::protocol::json;

use super::arguments::Arguments;
use super::blocking::run_blocking;
use super::workspace::Workspace;
use super::{Risk, Tool, ToolContext, ToolError, ToolFuture, ToolSpec};

/// The default number of lines.
const LINES: usize = 2000;
/// A line is cut after this many characters.
const LINE_WIDTH: usize = 2000;
/// The maximum number of bytes of text that are returned.
const TEXT_LIMIT: usize = 256 * 1024;

/// Reads a text file of the workspace.
#[derive(Debug)]
pub struct Read(ToolSpec);

impl Read {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = "Reads a UTF-8 text file of the workspace. Every line comes with its number and a tab. \
            `offset` is the first line, from 1; `limit` the number of lines, 2000 by default.";
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "the file, relative to the workspace"},
                "offset": {"type": "integer", "minimum": 1},
                "limit": {"type": "integer", "minimum": 1},
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        Self(ToolSpec {
            name: "Read".to_owned(),
            description: description.to_owned(),
            input_schema: Json::from(schema),
        })
    }
}

impl Default for Read {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn risk(&self) -> Risk {
        Risk::Read
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> ToolFuture<'a> {
        Box::pin(async move {
            let arguments = Arguments::read(input, &["path", "offset", "limit"])?;
            let path = arguments.text("path")?.into_owned();
            let first = arguments.count("offset")?.unwrap_or(1);
            let count = arguments.count("limit")?.unwrap_or(LINES);
            let root = context.workspace.clone();
            let text = run_blocking(context, move |_| Ok(Workspace::open(&root)?.read_text(&path)?)).await?;
            numbered(&text, first, count).map(Json::from)
        })
    }
}

/// The lines from `first`, numbered, and a note when there are more.
fn numbered(text: &str, first: usize, count: usize) -> Result<String, ToolError> {
    let total = text.lines().count();
    if total == 0 {
        return Ok("[the file is empty]".to_owned());
    }
    if first > total {
        return Err(ToolError::new(format!("the file has {total} lines; there is no line {first}")));
    }
    let mut shown = String::new();
    let mut next = first;
    for line in text.lines().skip(first - 1).take(count) {
        let (line, cut) = cut(line);
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "{next:>6}\t{line}{cut}");
        next += 1;
        if shown.len() > TEXT_LIMIT {
            break;
        }
    }
    if next <= total {
        let _ = write!(shown, "[lines {first} to {} of {total}; go on with offset {next}]", next - 1);
    }
    Ok(shown)
}

fn cut(line: &str) -> (&str, &'static str) {
    match line.char_indices().nth(LINE_WIDTH) {
        Some((at, _)) => (&line[..at], " [the rest of the line is left out]"),
        None => (line, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_from_the_offset() {
        assert_eq!(numbered("a\nb\r\nc", 2, 9).unwrap(), "     2\tb\n     3\tc\n");
        let shown = numbered("a\nb\nc\n", 1, 2).unwrap();
        assert_eq!(shown, "     1\ta\n     2\tb\n[lines 1 to 2 of 3; go on with offset 3]");
    }

    #[test]
    fn an_empty_file_and_a_line_too_far_are_told_apart() {
        assert_eq!(numbered("", 1, 1).unwrap(), "[the file is empty]");
        assert_eq!(numbered("a\n", 2, 1).unwrap_err().message, "the file has 1 lines; there is no line 2");
    }

    #[test]
    fn long_lines_and_long_files_are_cut() {
        let line = "\u{e4}".repeat(LINE_WIDTH + 1);
        let shown = numbered(&line, 1, 1).unwrap();
        assert!(shown.ends_with("\u{e4} [the rest of the line is left out]\n"));
        let text = "x".repeat(1000) + "\n";
        let shown = numbered(&text.repeat(1500), 1, 1500).unwrap();
        assert!(shown.len() < TEXT_LIMIT + 2 * LINE_WIDTH);
        assert!(shown.ends_with("go on with offset 262]"), "{}", &shown[shown.len() - 80..]);
    }
}
