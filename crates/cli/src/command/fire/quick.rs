//! Reads the usual forms of `fire` without the parser of the whole command line.
//!
//! `fire` is started for every event, and building the parser takes longer than reading a configuration. Anything but
//! the usual forms is left to the parser, which reports errors.

use std::ffi::OsString;
use std::path::PathBuf;

use super::FireArgs;
use crate::args::ConfigArgs;

/// The arguments, if these words are `fire` in one of the usual forms.
pub(crate) fn quick(words: impl IntoIterator<Item = OsString>) -> Option<FireArgs> {
    let mut words = words.into_iter();
    words.next().filter(|command| command == "fire")?;
    let mut event = None;
    let mut args = FireArgs {
        event: String::new(),
        config: ConfigArgs::default(),
        agent: None,
        messages: None,
        exit_code: false,
        trace: false,
    };
    while let Some(word) = words.next() {
        match word.to_str()? {
            "-c" | "--config" => args.config.config.push(PathBuf::from(value(&mut words)?)),
            "--agent" => set(&mut args.agent, value(&mut words)?.into_string().ok()?)?,
            "--messages" => set(&mut args.messages, PathBuf::from(value(&mut words)?))?,
            "--config-home" => set(&mut args.config.homes.config_home, PathBuf::from(value(&mut words)?))?,
            "--state-home" => set(&mut args.config.homes.state_home, PathBuf::from(value(&mut words)?))?,
            "--trust" => set(&mut args.config.trust, value(&mut words)?.into_string().ok()?)?,
            "--exit-code" if !args.exit_code => args.exit_code = true,
            "--trace" if !args.trace => args.trace = true,
            other if is_plain(other) => set(&mut event, other.to_owned())?,
            _ => return None,
        }
    }
    args.event = event?;
    Some(args)
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-')
}

/// The value of an option. One that looks like another option is left to the parser.
fn value(words: &mut impl Iterator<Item = OsString>) -> Option<OsString> {
    words.next().filter(|word| word.to_str().is_some_and(is_plain))
}

/// Sets an option that must not be repeated.
fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    fn parsed(words: &[&str]) -> Option<FireArgs> {
        let matches = FireArgs::augment_args(Command::new("fire")).try_get_matches_from(words).ok()?;
        FireArgs::from_arg_matches(&matches).ok()
    }

    fn quickly(words: &[&str]) -> Option<FireArgs> {
        quick(words.iter().map(OsString::from))
    }

    #[test]
    fn the_usual_ways_are_read_as_the_parser_reads_them() {
        for words in [
            &["fire", "Stop"][..],
            &["fire", "pre:tool", "-c", "a.yaml"],
            &["fire", "-c", "a.yaml", "Stop", "--config", "b.yaml", "--trace"],
            &["fire", "Stop", "--config-home", "/a", "--state-home", "/b"],
            &["fire", "--exit-code", "Stop", "--agent", "a 1", "--messages", "out"],
        ] {
            let (quick, parsed) = (quickly(words), parsed(words));
            assert!(quick.is_some(), "{words:?}");
            assert_eq!(format!("{quick:?}"), format!("{parsed:?}"), "{words:?}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_parser() {
        for words in [
            &[][..],
            &["check"],
            &["fire"],
            &["fire", "Stop", "Stop"],
            &["fire", "Stop", "--help"],
            &["fire", "Stop", "-c"],
            &["fire", "Stop", "-c", "--trace"],
            &["fire", "Stop", "-c", ""],
            &["fire", "Stop", "--config=a"],
            &["fire", "Stop", "--trace", "--trace"],
            &["fire", "Stop", "--agent", "a", "--agent", "b"],
            &["fire", "--", "Stop"],
            &["fire", ""],
        ] {
            assert!(quickly(words).is_none(), "{words:?}");
        }
    }

    /// For any words, the quick reader agrees with the parser, or leaves them to it.
    #[test]
    fn the_quick_way_never_knows_better() {
        let words =
            ["Stop", "-c", "--config", "a", "--agent", "--exit-code", "--trace", "-", "--", "-cx", ""];
        for a in words {
            for b in words {
                for c in words {
                    let line = ["fire", a, b, c];
                    if let Some(quick) = quickly(&line) {
                        assert_eq!(format!("{:?}", Some(quick)), format!("{:?}", parsed(&line)), "{line:?}");
                    }
                }
            }
        }
    }
}
