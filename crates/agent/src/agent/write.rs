//! Writes files for the agent: hooks before, the write, the shadow commit, hooks after.

use crosier::payload::{PostGitWrite, PreGitWrite};
use crosier::{ActionGate, Gates, Json};

use super::actor::Actor;
use crate::history::HistoryError;
use crate::tool::{FileWrite, ToolError, Workspace};

impl Actor {
    pub(super) async fn write_file(&mut self, write: FileWrite) -> Result<Json, ToolError> {
        let FileWrite { path, content, mut report } = write;
        let event = PreGitWrite::new(path.as_str(), content.as_str());
        let content = match self.fire(event).await.action_gate() {
            ActionGate::Halt(halt) => return Err(ToolError::new(halt.reason)),
            ActionGate::Deny(refusal) => {
                self.note("not written", &format!("{path}: {} ({})", refusal.reason, refusal.by)).await;
                return Err(ToolError::new(refusal.reason.to_string()));
            }
            ActionGate::Go(None) => content,
            ActionGate::Go(Some(new)) => {
                // The file differs from what the model wrote, so the model must be told.
                report.push_str("; a hook changed what was written");
                new.plain().into_owned()
            }
        };
        let commit = match self.session_context.history.clone() {
            None => self.put(&path, content).await.map(|()| None)?,
            Some(history) => {
                let message = format!("{} wrote {path}", self.id);
                match history.write(&path, content.as_bytes(), &message).await {
                    Ok(commit) => Some(commit),
                    // The file is written, but its history is not: that must be reported.
                    Err(HistoryError::NotKept { why, .. }) => {
                        self.note("no history", &format!("{path}: {why}")).await;
                        None
                    }
                    Err(error) => return Err(ToolError::new(error.to_string())),
                }
            }
        };
        if let Some(commit) = commit {
            let commit = commit.as_str().to_owned();
            self.fire(PostGitWrite::new(path, commit)).await;
        }
        Ok(Json::from(report))
    }

    /// Writes a file without a history.
    async fn put(&self, path: &str, content: String) -> Result<(), ToolError> {
        let (root, path) = (self.session_context.settings.workspace.clone(), path.to_owned());
        let write = move || Workspace::open(&root)?.write(&path, content.as_bytes());
        match tokio::task::spawn_blocking(write).await {
            Ok(written) => Ok(written?),
            Err(_) => Err(ToolError::new("the write panicked; this is a bug in Crosier")),
        }
    }
}
