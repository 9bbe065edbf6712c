//! The person's home folder by the system's database of users, which no variable changes.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The most room for one entry of the database.
const MAX_ENTRY: usize = 64 * 1024;

/// The home folder of the user who runs this process; `None` when the database does not know the user.
#[expect(unsafe_code, reason = "no safe wrapper asks the database of users")]
pub(crate) fn home() -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let mut text: Vec<libc::c_char> = vec![0; MAX_ENTRY];
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    // SAFETY: all pointers are valid for the whole call, and the length is that of the buffer.
    let failed =
        unsafe { libc::getpwuid_r(user, entry.as_mut_ptr(), text.as_mut_ptr(), text.len(), &raw mut found) };
    if failed != 0 || found.is_null() {
        return None;
    }
    // SAFETY: the call found an entry, so it filled `entry`; its texts end with a zero and are in `text`.
    let folder = unsafe {
        let folder = entry.assume_init().pw_dir;
        (!folder.is_null()).then(|| CStr::from_ptr(folder).to_bytes().to_vec())?
    };
    Some(PathBuf::from(OsStr::from_bytes(&folder))).filter(|folder| folder.is_absolute())
}
