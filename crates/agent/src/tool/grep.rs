//! Grep: finds lines that match a regular expression.

use std::fmt::Write as _;

use crosier::Json;
use crosier::protocol::json;
use regex::{Regex, RegexBuilder};

use super::arguments::Arguments;
use super::blocking::{Stop, run_blocking};
use super::pattern::PathPattern;
use super::walk::{Next, Walked, below, walk};
use super::workspace::{Refusal, Workspace};
use super::{Risk, Tool, ToolContext, ToolError, ToolFuture, ToolSpec};

/// The default number of lines.
const LINES: usize = 200;
const MAX_LINES: usize = 2000;
/// A line is cut after this many characters.
const LINE_WIDTH: usize = 400;
/// The maximum number of bytes of text that are returned.
const TEXT_LIMIT: usize = 128 * 1024;
/// The maximum size of a compiled regular expression.
const COMPILED_LIMIT: usize = 4 * 1024 * 1024;

/// Finds lines in the files of the workspace.
#[derive(Debug)]
pub struct Grep(ToolSpec);

impl Grep {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = "Finds lines that match a regular expression (Rust syntax: no look-around, no \
            back-references) in a file or in all files below a folder, as `path:line: text`. Files that \
            .gitignore excludes, .git, symlinks and files that are not text are skipped.";
        let schema = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "the regular expression"},
                "path": {"type": "string", "description": "a file or folder; the workspace by default"},
                "glob": {"type": "string", "description": "only files like this, for example `*.rs`"},
                "ignore_case": {"type": "boolean"},
                "limit": {"type": "integer", "minimum": 1, "description": "the maximum number of lines, 200 by default"},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        });
        Self(ToolSpec {
            name: "Grep".to_owned(),
            description: description.to_owned(),
            input_schema: Json::from(schema),
        })
    }
}

impl Default for Grep {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn risk(&self) -> Risk {
        Risk::Read
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> ToolFuture<'a> {
        Box::pin(async move {
            let search = Search::read(input)?;
            let root = context.workspace.clone();
            let found = run_blocking(context, move |stop| search.run(&Workspace::open(&root)?, stop));
            found.await.map(Json::from)
        })
    }
}

struct Search {
    expression: Regex,
    path: String,
    files: Option<PathPattern>,
    limit: usize,
}

impl Search {
    fn read(input: &Json) -> Result<Self, ToolError> {
        let arguments = Arguments::read(input, &["pattern", "path", "glob", "ignore_case", "limit"])?;
        let expression = RegexBuilder::new(&arguments.text("pattern")?)
            .multi_line(true)
            .crlf(true)
            .case_insensitive(arguments.flag("ignore_case")?)
            .size_limit(COMPILED_LIMIT)
            .build()
            .map_err(|error| ToolError::new(format!("the pattern is not a regular expression: {error}")))?;
        let files = arguments.optional_text("glob")?.map(|glob| PathPattern::new(&glob)).transpose();
        Ok(Self {
            expression,
            path: arguments.optional_text("path")?.unwrap_or(".".into()).into_owned(),
            files: files.map_err(ToolError::new)?,
            limit: arguments.count("limit")?.unwrap_or(LINES).min(MAX_LINES),
        })
    }

    fn run(&self, workspace: &Workspace, stop: &Stop) -> Result<String, ToolError> {
        let start = workspace.relative(&self.path)?;
        let mut found = Matches { text: String::new(), left: self.limit, over: false };
        // A file that is named directly is searched whatever its name is, and is an error if it cannot be read.
        match workspace.read_text(&start) {
            Ok(text) => {
                found.take(&start, &text, &self.expression);
                return Ok(found.finish(Walked::All));
            }
            Err(error) if !matches!(error.refusal, Refusal::NotAFile { what: "a folder" }) => {
                return Err(error.into());
            }
            Err(_) => {}
        }
        let walked = walk(workspace, &start, stop, |path| {
            let wanted =
                |files: &PathPattern| below(path, &start).is_some_and(|inside| files.matches(inside));
            if self.files.as_ref().is_none_or(wanted)
                && let Ok(text) = workspace.read_text(path)
                && !looks_binary(&text)
            {
                found.take(path, &text, &self.expression);
            }
            if found.over || stop.is_asked() { Next::Enough } else { Next::GoOn }
        })?;
        Ok(found.finish(walked))
    }
}

fn looks_binary(text: &str) -> bool {
    text.bytes().take(8192).any(|byte| byte == 0)
}

struct Matches {
    text: String,
    left: usize,
    over: bool,
}

impl Matches {
    /// Adds every line in which a match begins.
    fn take(&mut self, path: &str, text: &str, expression: &Regex) {
        let (mut from, mut counted, mut line) = (0, 0, 1);
        while let Some(matched) = expression.find_at(text, from) {
            // There is no line after the last newline.
            if matched.start() == text.len() && (text.is_empty() || text.ends_with('\n')) {
                return;
            }
            if self.left == 0 || self.text.len() > TEXT_LIMIT {
                self.over = true;
                return;
            }
            self.left -= 1;
            let start = text[..matched.start()].rfind('\n').map_or(0, |at| at + 1);
            let end = text[matched.start()..].find('\n').map_or(text.len(), |at| matched.start() + at);
            line += text[counted..start].matches('\n').count();
            counted = start;
            let (shown, cut) = cut(text[start..end].trim_end_matches('\r'));
            // Writing to a string cannot fail.
            let _ = writeln!(self.text, "{path}:{line}: {shown}{cut}");
            from = end + 1;
            if from > text.len() {
                return;
            }
        }
    }

    fn finish(mut self, walked: Walked) -> String {
        if self.over {
            self.text.push_str("[there are more; narrow the pattern or raise the limit]");
        } else if walked == Walked::Partly {
            self.text.push_str("[there are too many files; not all were searched]");
        } else if self.text.is_empty() {
            self.text.push_str("[no lines match]");
        }
        self.text
    }
}

fn cut(line: &str) -> (&str, &'static str) {
    match line.char_indices().nth(LINE_WIDTH) {
        Some((at, _)) => (&line[..at], " […]"),
        None => (line, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(expression: &str, text: &str) -> String {
        let expression = RegexBuilder::new(expression).multi_line(true).crlf(true).build().unwrap();
        let mut found = Matches { text: String::new(), left: 3, over: false };
        found.take("f", text, &expression);
        found.finish(Walked::All)
    }

    #[test]
    fn a_line_is_named_once_with_its_number() {
        assert_eq!(lines("a", "aa\nb\r\nxa\r\n"), "f:1: aa\nf:3: xa\n");
        assert_eq!(lines("^b$", "a\nb\r\n"), "f:2: b\n");
        assert_eq!(lines("a\\nb", "x\na\nb\n"), "f:2: a\n");
        assert_eq!(lines("zzz", "a"), "[no lines match]");
        assert_eq!(lines("\u{e4}", "\u{e4}\u{e4}\n\u{e4}"), "f:1: \u{e4}\u{e4}\nf:2: \u{e4}\n");
    }

    #[test]
    fn empty_matches_end_and_more_than_the_limit_is_said() {
        assert_eq!(lines("^", "a\n\nb\n"), "f:1: a\nf:2: \nf:3: b\n");
        assert_eq!(lines("", ""), "[no lines match]");
        assert!(
            lines("x", "x\nx\nx\nx\n")
                .ends_with("f:3: x\n[there are more; narrow the pattern or raise the limit]")
        );
    }
}
