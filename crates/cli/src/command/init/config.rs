//! The configuration that `init` writes.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crosier::protocol::nearest::nearest;
use crosier_install::project::{self, Mode, ProjectKind};
use crosier_policy::trust::{self, Reviewed};
use sha2::{Digest, Sha256};

use super::{Choice, USUAL_PACK};
use crate::exit::{Exit, Failed};
use crate::install_context::{InstallContext, hold_signals};
use crate::setup::{self, DEFAULT_CONFIG};

/// Refuses an unknown pack.
pub(super) fn known_pack(name: &str) -> Result<(), Failed> {
    let loader = setup::loader();
    let names: Vec<&str> = loader.packs().iter().map(|pack| pack.name).collect();
    if names.contains(&name) {
        return Ok(());
    }
    let near = nearest(name, names.iter().copied());
    let near = near.map_or("; there are".to_owned(), |near| format!(", did you mean `{near}`? There are"));
    let message = format!("there is no pack `{}`{near} {}", crate::print::one_line(name), names.join(", "));
    Err(Failed::new(Exit::Usage, message))
}

/// Writes the first configuration; `None` when there is already one.
pub(super) fn write(
    file: &Path,
    choice: &Choice,
    kind: Option<&ProjectKind>,
) -> Result<Option<String>, Failed> {
    let text = project::first_config(&choice.pack, choice.mode, kind);
    let is_new = create(file, &text).map_err(|error| cannot(file, &error))?;
    Ok(is_new.then_some(text))
}

fn cannot(file: &Path, error: &std::io::Error) -> Failed {
    Failed::new(Exit::Failed, format!("{} cannot be written: {error}", file.display()))
}

/// Creates a file atomically; returns false when it already exists.
fn create(file: &Path, text: &str) -> std::io::Result<bool> {
    if fs::symlink_metadata(file).is_ok() {
        return Ok(false);
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let _hold = hold_signals();
    let beside = folder.join(format!(".{DEFAULT_CONFIG}.{}", std::process::id()));
    let mut new = OpenOptions::new().create(true).truncate(true).write(true).mode(0o644).open(&beside)?;
    let written = new.write_all(text.as_bytes()).and_then(|()| new.sync_all());
    // Hard-linking fails when another process created the file meanwhile.
    let made = written.and_then(|()| fs::hard_link(&beside, file));
    let _ = fs::remove_file(&beside);
    match made {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|()| true),
    }
}

/// Trusts the project if the file that was just written is the only untrusted one; returns the message about it.
pub(super) fn trust(install_context: &InstallContext, file: &Path, text: &str) -> Result<String, Failed> {
    let request = setup::request(&[], install_context.homes.clone());
    let failed = |why: String| Failed::new(Exit::Failed, crate::print::plain(&why));
    let review = trust::review(&request).map_err(failed)?;
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    let digest: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let is_ours = |one: &Reviewed| {
        let fits = |(path, found, _): &(String, String, String)| match path == DEFAULT_CONFIG {
            true => found.ends_with(&digest),
            // Recorded as a file that does not exist.
            false => !one.folder.join(path).exists(),
        };
        Some(&one.folder) == folder.as_ref() && one.files.iter().all(fits)
    };
    let is_trusted = |one: &Reviewed| one.changes.as_ref().is_some_and(Vec::is_empty);
    if !review.folders.iter().all(|one| is_ours(one) || is_trusted(one)) {
        return Ok(
            "not trusted: there is more here than this file; `crosier trust` shows it and asks\n".to_owned()
        );
    }
    review.trust(false).map_err(failed)?;
    install_context.did("trust", &file.display().to_string());
    Ok("trusted; after a change, actions are denied until you run `crosier trust`\n".to_owned())
}

/// Writes into the user's own configuration whether denials are carried out; creates it if needed.
pub(crate) fn set_mode(install_context: &InstallContext, mode: Mode) -> Result<(), Failed> {
    let file = install_context.program.config_home.join(DEFAULT_CONFIG);
    let text = project::first_config(USUAL_PACK, mode, None);
    let did = || install_context.did("install", &format!("{}, mode {}", file.display(), mode.word()));
    if create(&file, &text).map_err(|error| cannot(&file, &error))? {
        did();
        return crate::print::data(&format!(
            "{}: written ({USUAL_PACK}, {})",
            install_context.shown(&file),
            mode.word()
        ));
    }
    let old = fs::read_to_string(&file).map_err(|error| cannot(&file, &error))?;
    let new = with_mode(&old, mode);
    if new == old {
        return Ok(());
    }
    let edited =
        setup::loader().text(&file.display().to_string(), &new, &install_context.program.config_home).load();
    edited.map_err(|problems| setup::bad("configuration", &problems))?;
    let _hold = hold_signals();
    let beside = file.with_extension(format!("yaml.{}", std::process::id()));
    let written = fs::write(&beside, &new)
        .and_then(|()| fs::set_permissions(&beside, fs::metadata(&file)?.permissions()))
        .and_then(|()| fs::rename(&beside, file.canonicalize()?));
    written.map_err(|error| cannot(&file, &error))?;
    did();
    crate::print::data(&format!("{}: mode is now {}", install_context.shown(&file), mode.word()))
}

/// The same text with another `mode:` at its top level.
fn with_mode(text: &str, mode: Mode) -> String {
    let line = format!("mode: {}", mode.word());
    let is_mode =
        |old: &&str| old.strip_prefix("mode:").is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    match text.lines().find(is_mode) {
        Some(old) => {
            let comment = old.find(" #").map(|at| &old[at..]).unwrap_or_default();
            text.replacen(old, &format!("{line}{comment}"), 1)
        }
        None => {
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{end}{line}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_put_in_place_of_another() {
        assert_eq!(
            with_mode("a: 1\nmode: warn # c\nb: 2\n", Mode::Enforce),
            "a: 1\nmode: enforce # c\nb: 2\n"
        );
        assert_eq!(with_mode("a: 1", Mode::Warn), "a: 1\nmode: warn\n");
    }
}
