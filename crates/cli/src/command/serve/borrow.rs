//! `crosier hook` and `crosier fire` use the daemon's warm workers, and start it when none is running.

use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use crosier::config::HostSettings;
use crosier_serve::{DaemonRunner, SocketPath, is_confined};

use super::{VERSION, socket};
use crate::homes::Homes;

/// The runner that offers Python hooks to the daemon, if one may be used.
pub(crate) fn runner(homes: &Homes, settings: &HostSettings) -> Option<Arc<DaemonRunner>> {
    if settings.daemon == Some(false) {
        return None;
    }
    let (state, socket) = (homes.state.clone()?, socket(homes).ok()?);
    let (homes, at) = (homes.clone(), socket.clone());
    let start = move || {
        // A sandboxed process must not start a daemon that others would use.
        if !is_confined() {
            let _ = start(&at, &homes);
        }
    };
    Some(Arc::new(DaemonRunner::new(socket, state, VERSION).or_start(start)))
}

/// Starts a detached daemon without waiting for it.
pub(super) fn start(socket: &SocketPath, homes: &Homes) -> io::Result<()> {
    let myself = Path::new("/proc/self/exe");
    let myself = if myself.exists() { myself.to_owned() } else { std::env::current_exe()? };
    let mut command = Command::new(myself);
    command.arg0("crosier").args(["serve", "--detached"]);
    command.arg(joined("--socket=", socket.path().as_os_str()));
    let folders =
        [("--home=", &homes.home), ("--config-home=", &homes.config), ("--state-home=", &homes.state)];
    for (option, folder) in folders {
        command.args(folder.iter().map(|folder| joined(option, folder.as_os_str())));
    }
    command.env_clear().current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(|_| ())
}

fn joined(option: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

/// Creates the state folder, accessible only to its owner.
pub(super) fn make_private_folder(folder: &PathBuf) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
