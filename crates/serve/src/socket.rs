//! The path of the socket: in a private folder, bound by the process that holds the lock beside it.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// The size of `sun_path`, less the terminating byte.
const MAX_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Where the socket of one version of the program is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketPath(PathBuf);

/// Why there is no socket to use.
#[derive(Debug)]
pub enum NoSocket {
    /// No server runs.
    NotRunning,
    /// The path cannot be used.
    Unusable(String),
    /// Another server holds the lock: its process id.
    Locked(String),
}

impl fmt::Display for NoSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRunning => f.write_str("no server runs"),
            Self::Unusable(why) => f.write_str(why),
            Self::Locked(pid) => write!(f, "another server is already running, with the process id {pid}"),
        }
    }
}

impl SocketPath {
    /// The socket of this version: in the folder `crosier` of the runtime folder, or in the folder `run` of the state
    /// folder.
    ///
    /// # Errors
    /// When there is neither, or the path is too long for a socket.
    pub fn find(runtime: Option<&Path>, state: Option<&Path>, version: &str) -> Result<Self, NoSocket> {
        let folder = match (runtime, state) {
            (Some(runtime), _) => runtime.join("crosier"),
            (None, Some(state)) => state.join("run"),
            (None, None) => {
                return Err(unusable("there is no folder for a socket: set XDG_RUNTIME_DIR or HOME"));
            }
        };
        Self::at(folder.join(format!("{version}.sock")))
    }

    /// A socket at this path.
    ///
    /// # Errors
    /// When the path is too long for a socket.
    pub fn at(path: PathBuf) -> Result<Self, NoSocket> {
        if path.as_os_str().len() > MAX_PATH {
            return Err(unusable(format!("{} is too long for a socket ({MAX_PATH} bytes)", path.display())));
        }
        Ok(Self(path))
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn folder(&self) -> &Path {
        self.0.parent().unwrap_or(Path::new("/"))
    }

    /// Checks that only this user can use the folder and the socket.
    ///
    /// # Errors
    /// Why a client must behave as if there were no server.
    pub fn check(&self) -> Result<(), NoSocket> {
        check_folder(self.folder())?;
        let meta = match fs::symlink_metadata(&self.0) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(NoSocket::NotRunning),
            Err(error) => return Err(unusable(format!("{}: {error}", self.0.display()))),
        };
        let is_socket = std::os::unix::fs::FileTypeExt::is_socket(&meta.file_type());
        if !is_socket || !is_mine(&meta) || meta.mode() & 0o777 & !0o600 != 0 {
            return Err(unusable(format!("{} is not a socket that only you can use", self.0.display())));
        }
        Ok(())
    }

    /// Checks the socket and connects. The stream is non-blocking.
    ///
    /// # Errors
    /// Why a client must behave as if there were no server.
    pub fn connect(&self) -> Result<std::os::unix::net::UnixStream, NoSocket> {
        self.check()?;
        connect(&self.0).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => NoSocket::NotRunning,
            io::ErrorKind::WouldBlock => unusable("the server does not accept connections"),
            _ => unusable(format!("{}: {error}", self.0.display())),
        })
    }

    /// Takes the lock, and only then removes the socket of an earlier server and binds its own.
    ///
    /// # Errors
    /// When another server has the lock, or others can use the folder.
    pub fn bind(&self) -> Result<Bound, NoSocket> {
        let cannot = |error: io::Error| unusable(format!("{}: {error}", self.0.display()));
        // Before it is made: what is refused must not be left behind.
        check_place(self.folder())?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.folder()).map_err(cannot)?;
        check_folder(self.folder())?;
        let no_follow = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
        let mut lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .custom_flags(no_follow)
            .open(self.0.with_extension("lock"))
            .map_err(|error| {
                let path = self.0.with_extension("lock");
                let what = "the lock of the daemon cannot be opened, and must be a file of yours and no link";
                unusable(format!("{}: {what}: {error}", path.display()))
            })?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut pid = String::new();
            let _ = lock.read_to_string(&mut pid);
            return Err(NoSocket::Locked(pid.trim().to_owned()));
        }
        lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id())).map_err(cannot)?;
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot(error)),
            _ => {}
        }
        let listener = std::os::unix::net::UnixListener::bind(&self.0).map_err(cannot)?;
        // No other user can connect before this: the folder is private.
        fs::set_permissions(&self.0, fs::Permissions::from_mode(0o600)).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let inode = fs::symlink_metadata(&self.0).map_err(cannot)?.ino();
        Ok(Bound { path: self.0.clone(), listener: Some(listener), inode, _lock: lock })
    }
}

/// A socket of this process, with its lock. It is removed on drop.
#[derive(Debug)]
pub struct Bound {
    path: PathBuf,
    listener: Option<std::os::unix::net::UnixListener>,
    inode: u64,
    _lock: File,
}

impl Bound {
    pub(crate) fn listener(&mut self) -> io::Result<tokio::net::UnixListener> {
        let listener = self.listener.take().ok_or_else(|| io::Error::other("it is already in use"))?;
        tokio::net::UnixListener::from_std(listener)
    }

    /// Whether this is still the socket at the path: otherwise no client could connect.
    pub(crate) fn is_mine(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|meta| meta.ino() == self.inode)
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        if self.is_mine() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Connects without blocking: the queue of a server that hangs may be full.
fn connect(path: &Path) -> io::Result<std::os::unix::net::UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

fn check_folder(folder: &Path) -> Result<(), NoSocket> {
    let meta = match fs::symlink_metadata(folder) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(NoSocket::NotRunning),
        Err(error) => return Err(unusable(format!("{}: {error}", folder.display()))),
    };
    if !meta.is_dir() || !is_mine(&meta) || meta.mode() & 0o777 != 0o700 {
        let what = "must be a folder of yours that nobody else can use (mode 0700), and not a link";
        return Err(unusable(format!("{} {what}", folder.display())));
    }
    check_place(folder)
}

/// Refuses a folder in /tmp, whether it exists or not.
fn check_place(folder: &Path) -> Result<(), NoSocket> {
    let above = folder.parent().and_then(|above| above.canonicalize().ok());
    if above.as_deref() == Some(Path::new("/tmp")) {
        return Err(unusable(format!("{} is in /tmp, where others could have created it", folder.display())));
    }
    Ok(())
}

fn is_mine(meta: &fs::Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw()
}

fn unusable(why: impl Into<String>) -> NoSocket {
    NoSocket::Unusable(why.into())
}
