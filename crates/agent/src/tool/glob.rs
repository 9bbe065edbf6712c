//! Glob: finds files by name.

use crosier::Json;
use crosier::protocol::json;

use super::arguments::Arguments;
use super::blocking::{Stop, run_blocking};
use super::pattern::PathPattern;
use super::walk::{Next, Walked, below, walk};
use super::workspace::Workspace;
use super::{Risk, Tool, ToolContext, ToolError, ToolFuture, ToolSpec};

/// The maximum number of files that are listed.
const MAX_FILES: usize = 1000;

/// Finds files of the workspace by their names.
#[derive(Debug)]
pub struct Glob(ToolSpec);

impl Glob {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = "Finds files of the workspace by name, sorted. `*` and `?` stop at `/`, `**` is any \
            number of folders, `[a-z]`, `{a,b}`; a pattern without a `/` matches names at any depth. Files \
            that .gitignore excludes, .git and symlinks are skipped.";
        let schema = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "for example `src/**/*.rs` or `*.md`"},
                "path": {"type": "string", "description": "the folder to search; the workspace by default"},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        });
        Self(ToolSpec {
            name: "Glob".to_owned(),
            description: description.to_owned(),
            input_schema: Json::from(schema),
        })
    }
}

impl Default for Glob {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for Glob {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn risk(&self) -> Risk {
        Risk::Read
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> ToolFuture<'a> {
        Box::pin(async move {
            let arguments = Arguments::read(input, &["pattern", "path"])?;
            let pattern = PathPattern::new(&arguments.text("pattern")?).map_err(ToolError::new)?;
            let path = arguments.optional_text("path")?.unwrap_or(".".into()).into_owned();
            let root = context.workspace.clone();
            let found =
                run_blocking(context, move |stop| find(&Workspace::open(&root)?, &path, &pattern, stop));
            found.await.map(Json::from)
        })
    }
}

fn find(workspace: &Workspace, path: &str, pattern: &PathPattern, stop: &Stop) -> Result<String, ToolError> {
    let start = workspace.relative(path)?;
    let mut found = Vec::new();
    let walked = walk(workspace, &start, stop, |path| {
        if below(path, &start).is_some_and(|inside| pattern.matches(inside)) {
            found.push(path.to_owned());
        }
        if found.len() > MAX_FILES { Next::Enough } else { Next::GoOn }
    })?;
    if found.is_empty() && walked == Walked::All {
        return Ok("[no files match]".to_owned());
    }
    if found.len() > MAX_FILES {
        found.truncate(MAX_FILES);
        found.push(format!("[only the first {MAX_FILES} files; narrow the pattern]"));
    } else if walked == Walked::Partly {
        found.push("[there are too many files; not all were searched]".to_owned());
    }
    Ok(found.join("\n"))
}
