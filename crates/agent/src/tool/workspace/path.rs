//! A path as a model wrote it → a path relative to the workspace. Works on text only, without the file system.

use std::path::{Component, Path};

use super::{Refusal, Workspace, WorkspaceError};

impl Workspace {
    /// The path relative to the workspace, with `/` between its parts and without `.` and `..`. The workspace
    /// itself is `.`.
    ///
    /// # Errors
    /// When it is not a path, or leaves the workspace.
    pub fn relative(&self, path: &str) -> Result<String, WorkspaceError> {
        let refuse = |refusal| WorkspaceError::new(path, refusal);
        if path.is_empty() {
            return Err(refuse(Refusal::BadPath { why: "it is empty" }));
        }
        if path.contains('\0') {
            return Err(refuse(Refusal::BadPath { why: "it contains a NUL" }));
        }
        let outside = || refuse(Refusal::Outside { root: self.root.display().to_string() });
        let written = Path::new(path);
        let inside = if written.is_absolute() {
            written
                .strip_prefix(&self.root)
                .or_else(|_| written.strip_prefix(&self.given))
                .map_err(|_| outside())?
        } else {
            written
        };
        let mut parts: Vec<&str> = Vec::new();
        for component in inside.components() {
            match component {
                Component::Normal(part) => parts.extend(part.to_str()),
                Component::CurDir => {}
                Component::ParentDir => {
                    parts.pop().ok_or_else(outside)?;
                }
                Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
        }
        Ok(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
    }

    /// The same for a file to write.
    pub(super) fn relative_for_writing(&self, path: &str) -> Result<String, WorkspaceError> {
        let relative = self.relative(path)?;
        if relative == "." || path.ends_with('/') {
            return Err(WorkspaceError::new(path, Refusal::NotAFile { what: "a folder" }));
        }
        if relative.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
            return Err(WorkspaceError::new(path, Refusal::Protected));
        }
        Ok(relative)
    }
}
