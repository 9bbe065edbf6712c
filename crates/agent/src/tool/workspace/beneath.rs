//! Opens files beneath a folder, safe against concurrent changes of the path.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use super::{Refusal, Workspace, WorkspaceError};

/// How symlinks are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// Followed when they stay inside the workspace.
    Inside,
    /// Not followed.
    Refuse,
}

impl Workspace {
    /// Opens what is at a relative path.
    pub(super) fn open_beneath(
        &self,
        relative: &str,
        flags: OFlags,
        links: Links,
    ) -> Result<OwnedFd, WorkspaceError> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        match self.open_resolved(relative, flags, links) {
            // An old kernel, or a sandbox without this system call: open the path part by part.
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(Errno::LOOP) => return Err(self.explain_link(relative)),
            opened => return opened.map_err(|errno| WorkspaceError::system(relative, errno)),
        }
        // Other systems cannot keep a symlink inside of a folder, so part by part none is followed.
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let _ = links;
        self.open_step_by_step(relative, flags)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn open_resolved(&self, relative: &str, flags: OFlags, links: Links) -> Result<OwnedFd, Errno> {
        use rustix::fs::{ResolveFlags, openat2};
        let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        if links == Links::Refuse {
            resolve |= ResolveFlags::NO_SYMLINKS;
        }
        let mut tries = 0;
        loop {
            match openat2(&self.folder, relative, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                // A part of the path was renamed meanwhile; the kernel asks to try again.
                Err(Errno::AGAIN | Errno::INTR) if tries < 16 => tries += 1,
                opened => return opened,
            }
        }
    }

    /// Opens it part by part. No symlink is followed: its target could change before it is checked.
    pub(super) fn open_step_by_step(&self, relative: &str, flags: OFlags) -> Result<OwnedFd, WorkspaceError> {
        let (folder, name) = relative.rsplit_once('/').unwrap_or((".", relative));
        let folder = self.descend(folder, |_, _| Err(Errno::NOENT))?;
        openat(&folder, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).map_err(|errno| {
            match errno {
                Errno::LOOP | Errno::NOTDIR => self.explain_step(relative, errno),
                other => WorkspaceError::system(relative, other),
            }
        })
    }

    /// Opens a folder without following symlinks. `missing` is called for a part that does not exist
    /// and may create it.
    pub(super) fn descend(
        &self,
        relative: &str,
        missing: impl Fn(&OwnedFd, &str) -> Result<(), Errno>,
    ) -> Result<OwnedFd, WorkspaceError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let refuse = |errno| WorkspaceError::system(relative, errno);
        let mut at = self.folder.try_clone().map_err(|_| refuse(Errno::MFILE))?;
        for part in relative.split('/').filter(|part| *part != ".") {
            let open = |at: &OwnedFd| openat(at, part, flags, Mode::empty());
            let opened = match open(&at) {
                Err(Errno::NOENT) => missing(&at, part).and_then(|()| open(&at)),
                opened => opened,
            };
            at = opened.map_err(|errno| match errno {
                Errno::LOOP | Errno::NOTDIR => self.explain_step(relative, errno),
                other => refuse(other),
            })?;
        }
        Ok(at)
    }

    /// The system has one error code for a symlink and for something that is not a folder.
    fn explain_step(&self, relative: &str, errno: Errno) -> WorkspaceError {
        self.find_link(relative).unwrap_or_else(|| WorkspaceError::system(relative, errno))
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn explain_link(&self, relative: &str) -> WorkspaceError {
        let circle = || Refusal::System { why: "its symlinks form a loop".to_owned() };
        self.find_link(relative).unwrap_or_else(|| WorkspaceError::new(relative, circle()))
    }

    /// The first part of a path that is a symlink; only for a message.
    fn find_link(&self, relative: &str) -> Option<WorkspaceError> {
        let mut so_far = String::new();
        for part in relative.split('/') {
            if !so_far.is_empty() {
                so_far.push('/');
            }
            so_far.push_str(part);
            let stat = statat(&self.folder, &so_far, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
                return Some(self.link(relative, &so_far));
            }
        }
        None
    }

    /// The error for a symlink.
    pub(super) fn link(&self, path: &str, link: &str) -> WorkspaceError {
        let target = readlinkat(self.folder.as_fd(), link, Vec::new()).ok();
        let target = target.and_then(|target| target.into_string().ok());
        WorkspaceError::new(path, Refusal::Symlink { link: link.to_owned(), target })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// The fallback without `openat2` is stricter and just as safe.
    #[test]
    fn step_by_step_no_symlink_is_followed() {
        let outer = tempfile::TempDir::new().unwrap();
        let work = outer.path().join("work");
        fs::create_dir_all(work.join("sub")).unwrap();
        fs::write(outer.path().join("secret"), "secret").unwrap();
        fs::write(work.join("sub/a"), "a").unwrap();
        for (target, link) in [("sub", "folder"), ("sub/a", "file"), ("..", "up"), ("../secret", "out")] {
            symlink(target, work.join(link)).unwrap();
        }
        let workspace = Workspace::open(&work).unwrap();
        let open =
            |path: &str| workspace.open_step_by_step(path, OFlags::RDONLY).map_err(|error| error.refusal);
        assert!(open("sub/a").is_ok());
        assert!(open(".").is_ok());
        assert_eq!(open("sub/b").unwrap_err(), Refusal::Missing);
        assert_eq!(open("gone/b").unwrap_err(), Refusal::Missing);
        assert_eq!(open("sub/a/b").unwrap_err(), Refusal::NotAFolder);
        for path in ["folder/a", "file", "up/secret", "out"] {
            assert!(matches!(open(path), Err(Refusal::Symlink { .. })), "{path}");
        }
    }
}
