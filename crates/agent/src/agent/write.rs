//! Every file that the agent writes: hooks, the write, the shadow commit, hooks.

use std::path::Path;

use crosier::payload::{PostGitWrite, PreGitWrite};
use crosier::{ActionGate, Gates, Json};

use super::actor::Actor;
use crate::tool::{FileWrite, ToolError};

impl Actor {
    pub(super) async fn write_file(&mut self, write: FileWrite) -> Result<Json, ToolError> {
        let event =
            PreGitWrite { path: write.path.clone(), content: write.content.clone(), ..Default::default() };
        let content = match self.fire(event).await.action_gate() {
            ActionGate::Halt(halt) => return Err(ToolError::new(halt.reason)),
            ActionGate::Deny(refusal) => return Err(ToolError::new(refusal.reason.to_string())),
            ActionGate::Go(None) => write.content,
            ActionGate::Go(Some(content)) => content.plain().into_owned(),
        };
        let file = self.parts.settings.workspace.join(&write.path);
        put(&file, &content).map_err(|error| ToolError::new(format!("{}: {error}", write.path)))?;
        if let Some(ledger) = self.parts.ledger.clone() {
            match ledger.record(&write.path, &content).await {
                Ok(commit) => {
                    self.fire(PostGitWrite { path: write.path, commit, ..Default::default() }).await;
                }
                // The file is written; that its history is not must not be silent.
                Err(why) => self.note("no history", &why).await,
            }
        }
        Ok(Json::from(write.report))
    }
}

/// Writes a file as a whole or not at all.
fn put(file: &Path, content: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, content)
}
