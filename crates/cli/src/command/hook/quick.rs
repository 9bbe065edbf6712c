//! Reads the arguments of `crosier hook` and never refuses them: a mistake in an agent's configuration must deny, and
//! not end with a status that means something else to the agent.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::HookArgs;
use crate::args::ConfigArgs;

/// The arguments, if these words are `hook`. Help and version are left to the parser.
pub(crate) fn quick(words: impl IntoIterator<Item = OsString>) -> Option<HookArgs> {
    let mut words = words.into_iter();
    words.next().filter(|command| command == "hook")?;
    let mut args = HookArgs {
        agent: String::new(),
        event: None,
        config: ConfigArgs::default(),
        deadline: None,
        plugin: false,
        mistake: None,
    };
    let mut plain = Vec::new();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if matches!(&*text, "-h" | "--help" | "-V" | "--version") {
            return None;
        }
        let (name, value) = match text.split_once('=') {
            Some((name, _)) if name.starts_with("--") => (name.to_owned(), Some(tail(&word, name.len() + 1))),
            _ => (text.into_owned(), None),
        };
        let mut value = || value.clone().or_else(|| words.next());
        match name.as_str() {
            "-c" | "--config" => match value() {
                Some(file) if !file.is_empty() => args.config.config.push(PathBuf::from(file)),
                _ => args.mistake("-c needs a file"),
            },
            "--deadline" => {
                match value().and_then(|value| value.to_str()?.parse().ok()).filter(|&time| time > 0) {
                    Some(seconds) => args.deadline = Some(seconds),
                    None => args.mistake("--deadline needs a number of seconds"),
                }
            }
            "--config-home" | "--state-home" => match value() {
                Some(folder) if Path::new(&folder).is_absolute() => {
                    let homes = &mut args.config.homes;
                    let place = match name.as_str() {
                        "--config-home" => &mut homes.config_home,
                        _ => &mut homes.state_home,
                    };
                    *place = Some(PathBuf::from(folder));
                }
                _ => args.mistake(&format!("{name} needs an absolute path")),
            },
            "--trust" => match value().and_then(|value| value.into_string().ok()) {
                Some(digest) if !digest.is_empty() => args.config.trust = Some(digest),
                _ => args.mistake("--trust needs a digest"),
            },
            "--plugin" => args.plugin = true,
            other if other.starts_with('-') => {
                args.mistake(&format!("`{other}` is not an option of `crosier hook`"))
            }
            _ => plain.push(name),
        }
    }
    let mut plain = plain.into_iter();
    args.agent = plain.next().unwrap_or_default();
    args.event = plain.next();
    if let Some(more) = plain.next() {
        args.mistake(&format!("unexpected argument `{more}`"));
    }
    Some(args)
}

/// What follows an option and its `=`, byte for byte.
fn tail(word: &OsString, from: usize) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    OsString::from_vec(word.as_bytes().get(from..).unwrap_or_default().to_vec())
}

impl HookArgs {
    fn mistake(&mut self, what: &str) {
        self.mistake.get_or_insert_with(|| what.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> HookArgs {
        quick(words.iter().map(OsString::from)).unwrap()
    }

    #[test]
    fn the_usual_lines() {
        let args = words(&["hook", "claude"]);
        assert_eq!((args.agent.as_str(), args.event, args.mistake), ("claude", None, None));
        let args = words(&["hook", "-c", "a", "cline", "PreToolUse", "--config=b", "--deadline", "5"]);
        assert_eq!((args.agent.as_str(), args.event.as_deref()), ("cline", Some("PreToolUse")));
        assert_eq!(args.config.config, [PathBuf::from("a"), PathBuf::from("b")]);
        assert_eq!((args.deadline, args.mistake), (Some(5), None));
    }

    #[test]
    fn a_mistake_is_kept_and_never_refused() {
        for line in [
            &["hook", "claude", "--frob"][..],
            &["hook", "claude", "-c"],
            &["hook", "claude", "Stop", "Stop"],
            &["hook", "claude", "--deadline", "soon"],
            &["hook", "claude", "--deadline=0"],
        ] {
            assert!(words(line).mistake.is_some(), "{line:?}");
        }
        assert!(quick(["hook", "claude", "--help"].map(OsString::from)).is_none());
        assert!(quick(["fire", "Stop"].map(OsString::from)).is_none());
    }
}
