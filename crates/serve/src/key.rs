//! Secrets in the state folder: the key with which a server proves its identity, and the token of its HTTP address.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const LENGTH: usize = 32;
const DOMAIN: &[u8] = b"crosier-rpc-1";

/// The key of one person's daemons.
#[derive(Clone)]
pub struct Key([u8; LENGTH]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// Reads the key of this state folder.
    ///
    /// # Errors
    /// When there is none, or others can read or write it.
    pub fn read(state: &Path) -> io::Result<Self> {
        let path = state.join("daemon.key");
        let bytes = read_private(&path)?;
        let wrong = |_| {
            let path = path.display();
            io::Error::other(format!("{path} does not have {LENGTH} bytes; remove it, and a new one is made"))
        };
        Ok(Self(bytes.try_into().map_err(wrong)?))
    }

    /// Reads the key of this state folder, or creates one.
    ///
    /// # Errors
    /// When it can be neither read nor created.
    pub fn read_or_make(state: &Path) -> io::Result<Self> {
        match Self::read(state) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut key = [0; LENGTH];
                getrandom::fill(&mut key).map_err(io::Error::other)?;
                make_private(&state.join("daemon.key"), &key)?;
                Self::read(state)
            }
            read => read,
        }
    }

    /// Proves to the sender of this nonce that the process with this id has the key.
    #[must_use]
    pub fn proof(&self, nonce: &str, pid: u32) -> String {
        let bytes = self.mac(nonce, pid).finalize().into_bytes();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether the proof is valid, compared in constant time.
    #[must_use]
    pub fn proves(&self, proof: &str, nonce: &str, pid: u32) -> bool {
        self.expect(nonce, pid).is(proof)
    }

    /// The proof that is expected for this nonce and process: its slow part is done before the proof arrives.
    pub(crate) fn expect(&self, nonce: &str, pid: u32) -> ExpectedProof {
        ExpectedProof(self.mac(nonce, pid))
    }

    fn mac(&self, nonce: &str, pid: u32) -> Hmac<Sha256> {
        // HMAC accepts a key of any length, so this does not fail.
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).unwrap_or_else(|_| Hmac::new(&Default::default()));
        for part in [DOMAIN, nonce.as_bytes(), pid.to_string().as_bytes()] {
            mac.update(part);
        }
        mac
    }
}

/// A proof that was not received yet.
pub(crate) struct ExpectedProof(Hmac<Sha256>);

impl ExpectedProof {
    /// Whether this is it. Takes the same time for every wrong one.
    pub(crate) fn is(self, proof: &str) -> bool {
        let pairs = proof.as_bytes().as_chunks::<2>().0;
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
        proof.len() == 64 && bytes.is_some_and(|bytes| self.0.verify_slice(&bytes).is_ok())
    }
}

/// The token of the HTTP address of this state folder; created when there is none.
///
/// # Errors
/// When it can be neither read nor created.
pub fn http_token(state: &Path) -> io::Result<String> {
    let path = state.join("http.token");
    let read = match read_private(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut bytes = [0; LENGTH];
            getrandom::fill(&mut bytes).map_err(io::Error::other)?;
            let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            make_private(&path, format!("{token}\n").as_bytes())?;
            read_private(&path)
        }
        read => read,
    };
    let token = String::from_utf8(read?).map_err(io::Error::other)?;
    let token = token.trim().to_owned();
    if token.len() < LENGTH { Err(io::Error::other("http.token is too short")) } else { Ok(token) }
}

/// The content of a file that only its owner can read. An error says which file is wrong.
fn read_private(path: &Path) -> io::Result<Vec<u8>> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits();
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let file = OpenOptions::new().read(true).custom_flags(no_follow as i32).open(path).map_err(named)?;
    let meta = file.metadata().map_err(named)?;
    let is_mine = meta.uid() == rustix::process::geteuid().as_raw();
    if !meta.is_file() || !is_mine || meta.mode() & 0o077 != 0 {
        let (path, mode) = (path.display(), meta.mode() & 0o777);
        let what = format!("{path} must be a file of yours that only you can read (its mode is {mode:o})");
        return Err(io::Error::other(format!("{what}; remove it, and a new one is made")));
    }
    let mut bytes = Vec::new();
    file.take(4096).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Creates a file atomically; if two processes do this, the first one wins.
fn make_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    // Left by a process that had the same id and was killed.
    let _ = std::fs::remove_file(&beside);
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    let made = file.write_all(bytes).and_then(|()| std::fs::hard_link(&beside, path));
    let _ = std::fs::remove_file(&beside);
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_for_one_nonce_and_one_process() {
        let folder = tempfile::tempdir().unwrap();
        let key = Key::read_or_make(folder.path()).unwrap();
        let proof = Key::read_or_make(folder.path()).unwrap().proof("00ff", 12);
        assert!(key.proves(&proof, "00ff", 12));
        assert!(!key.proves(&proof, "00ff", 13) && !key.proves(&proof, "00fe", 12));
        assert!(!key.proves("", "00ff", 12) && !key.proves(&"zz".repeat(32), "00ff", 12));
        std::os::unix::fs::symlink(folder.path().join("daemon.key"), folder.path().join("http.token"))
            .unwrap();
        assert!(http_token(folder.path()).is_err());
    }
}
