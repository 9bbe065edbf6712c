//! Write: writes a whole file.

use crosier::Json;
use crosier::protocol::json;

use super::arguments::Arguments;
use super::blocking::run_blocking;
use super::workspace::Workspace;
use super::{FileWrite, Risk, Tool, ToolContext, ToolError, ToolFuture, ToolSpec};

/// Writes a whole file of the workspace.
#[derive(Debug)]
pub struct Write(ToolSpec);

impl Write {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = "Writes a whole text file of the workspace; an existing file is replaced, missing \
            folders are created.";
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "the file, relative to the workspace"},
                "content": {"type": "string", "description": "its whole content"},
            },
            "required": ["path", "content"],
            "additionalProperties": false,
        });
        Self(ToolSpec {
            name: "Write".to_owned(),
            description: description.to_owned(),
            input_schema: Json::from(schema),
        })
    }
}

impl Default for Write {
    fn default() -> Self {
        Self::new()
    }
}

fn plan(input: &Json, context: &ToolContext) -> Result<FileWrite, ToolError> {
    let arguments = Arguments::read(input, &["path", "content"])?;
    let content = arguments.text("content")?.into_owned();
    let path =
        Workspace::open(&context.workspace)?.check_write(&arguments.text("path")?, content.as_bytes())?;
    let report = format!("wrote {path}: {} lines, {} bytes", content.lines().count(), content.len());
    Ok(FileWrite { path, content, report })
}

impl Tool for Write {
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

/// Writes a file, for a host that does not do this itself.
pub(super) async fn put(write: FileWrite, context: &ToolContext) -> Result<Json, ToolError> {
    let root = context.workspace.clone();
    let FileWrite { path, content, report } = write;
    run_blocking(context, move |_| Ok(Workspace::open(&root)?.write(&path, content.as_bytes())?)).await?;
    Ok(Json::from(report))
}
