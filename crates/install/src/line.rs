//! The command line in an agent's configuration that calls Crosier, and how it is recognised.

use std::path::{Path, PathBuf};

/// What every command line names in full: the program and its two folders. A repository's own settings can set
/// variables, so nothing depends on the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program, by its full path.
    pub program: PathBuf,
    /// The folder of the person's configuration.
    pub config_home: PathBuf,
    /// The folder of Crosier's state.
    pub state_home: PathBuf,
}

impl Program {
    /// The words of the command line for an agent; with the event, if the agent does not send its name.
    ///
    /// # Errors
    /// When a path is not UTF-8: no agent's configuration can contain it.
    pub fn words(&self, agent: &str, event: Option<&str>, deadline: u32) -> Result<Vec<String>, String> {
        let mut words = vec![text(&self.program)?, "hook".to_owned(), agent.to_owned()];
        words.extend(event.map(str::to_owned));
        words.extend(["--config-home".to_owned(), text(&self.config_home)?]);
        words.extend(["--state-home".to_owned(), text(&self.state_home)?]);
        words.extend(["--deadline".to_owned(), deadline.to_string()]);
        Ok(words)
    }
}

fn text(path: &Path) -> Result<String, String> {
    let text = path.to_str().filter(|text| !text.contains(['\n', '\r', '\0']));
    text.map(str::to_owned).ok_or_else(|| format!("the path {} is not UTF-8", path.display()))
}

/// The words as one shell command.
#[must_use]
pub fn shell(words: &[String]) -> String {
    let quoted = words.iter().map(|word| shlex::try_quote(word).map_or_else(|_| word.clone(), Into::into));
    quoted.collect::<Vec<String>>().join(" ")
}

/// Whether these words are a command line that was installed for this agent. One with its own files (`-c`) was written
/// by the person.
#[must_use]
pub fn is_ours(words: &[String], agent: &str) -> bool {
    let [program, hook, name, rest @ ..] = words else { return false };
    let program = Path::new(program).file_name().and_then(|name| name.to_str());
    program.is_some_and(|program| program == "crosier" || program.starts_with("crosier-"))
        && hook == "hook"
        && name == agent
        && !rest.iter().any(|word| word == "-c" || word == "--config" || word.starts_with("--config="))
}

/// Whether a shell command was installed for this agent.
#[must_use]
pub fn is_our_line(line: &str, agent: &str) -> bool {
    shlex::split(line).is_some_and(|words| is_ours(&words, agent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_again() {
        let program = Program {
            program: "/opt/my tools/crosier".into(),
            config_home: "/h/.config/crosier".into(),
            state_home: "/h/it's/crosier".into(),
        };
        let words = program.words("codex", None, 595).unwrap();
        assert!(is_ours(&words, "codex") && !is_ours(&words, "claude"));
        let line = shell(&words);
        assert_eq!(shlex::split(&line).unwrap(), words);
        assert!(is_our_line(&line, "codex"));
    }

    #[test]
    fn lines_of_the_person_are_not_ours() {
        for line in
            ["crosier hook claude -c my.yaml", "echo crosier hook claude", "mycrosier hook claude", "crosier"]
        {
            assert!(!is_our_line(line, "claude"), "{line}");
        }
        assert!(is_our_line("crosier hook claude", "claude"));
    }
}
