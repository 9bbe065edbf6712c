//! Lists a folder.

use rustix::fs::{AtFlags, Dir, FileType, OFlags, statat};

use super::beneath::Links;
use super::{Workspace, WorkspaceError};

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: EntryKind,
}

/// Its kind. Symlinks, devices and the like are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKind {
    File,
    Folder,
}

impl Workspace {
    /// The files and folders in a folder, by name. Names that are not UTF-8 cannot be written in JSON and
    /// are left out.
    pub(crate) fn list(&self, relative: &str) -> Result<Vec<Entry>, WorkspaceError> {
        let refuse = |errno| WorkspaceError::system(relative, errno);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let folder = self.open_beneath(relative, flags, Links::Refuse)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&folder).map_err(refuse)? {
            let entry = entry.map_err(refuse)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not report the type.
                FileType::Unknown => statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            let kind = match kind {
                FileType::RegularFile => EntryKind::File,
                FileType::Directory => EntryKind::Folder,
                _ => continue,
            };
            entries.push(Entry { name: name.to_owned(), kind });
        }
        entries.sort_unstable();
        Ok(entries)
    }
}
