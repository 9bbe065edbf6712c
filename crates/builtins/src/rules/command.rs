//! Patterns for simple commands, word by word.

use super::flag;
use super::sequence::States;
use crate::shell::{Command, Script, Word, base_name, git_subcommand};
use crate::token::{Fit, Token, covers, meets, of_text, of_word};

/// A pattern for one simple command.
#[derive(Debug, Clone)]
pub(super) struct CommandPattern {
    pub(super) words: Vec<PatternWord>,
    /// Whether more words may follow.
    pub(super) open: bool,
    /// Whether more words may follow in an allow rule: after an address or a path, they may not.
    open_for_allow: bool,
    assignments: Vec<(String, Vec<Token>)>,
    /// The program, when it is plain text.
    program: Option<String>,
}

/// One word of a pattern.
#[derive(Debug, Clone)]
pub(super) enum PatternWord {
    /// `*`: any number of words, including none.
    Any,
    Tokens(Vec<Token>),
}

/// Folders whose programs can be trusted to be what their names say.
const SYSTEM: [&str; 6] =
    ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"];

/// Variables that only change how a program displays things.
const HARMLESS: [&str; 21] = [
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LINES",
    "CI",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "NODE_ENV",
    "PYTHONUNBUFFERED",
    "CARGO_TERM_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "DEBIAN_FRONTEND",
    "GOOS",
    "GOARCH",
];

/// Prefixes of variables that change what other programs do, even when they are not set for that program alone.
const RISKY: [&str; 24] = [
    "PATH",
    "IFS",
    "ENV",
    "BASH",
    "LD_",
    "DYLD_",
    "PS",
    "PROMPT_COMMAND",
    "SHELL",
    "GIT_",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "JAVA_",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "MAN",
    "LESS",
    "CDPATH",
    "HOME",
    "TMPDIR",
];

impl CommandPattern {
    /// Parses the text in the parentheses; the error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (text, prefix) = match text.strip_suffix(":*") {
            Some(before) => (before, true),
            None => (text, false),
        };
        let script = Script::parse_flat(text);
        if let Some(doubt) = script.doubts.first() {
            return Err(format!("cannot be read as a command: {doubt}"));
        }
        let [command] = script.commands.as_slice() else {
            return Err("is not one simple command".to_owned());
        };
        let all = command.words.iter().chain(command.assignments.iter().map(|assignment| &assignment.value));
        if all.flat_map(Word::unknowns).next().is_some() {
            return Err("has a variable or a substitution in it".to_owned());
        }
        if !command.redirections.is_empty() {
            return Err("has a redirection in it (files are for rules like Write(./out/**))".to_owned());
        }
        let word = |word: &Word| match of_word(word).as_slice() {
            [Token::Many] => PatternWord::Any,
            tokens => PatternWord::Tokens(tokens.to_vec()),
        };
        let words: Vec<PatternWord> = command.words.iter().map(word).collect();
        let glued =
            matches!(words.last(), Some(PatternWord::Tokens(tokens)) if tokens.last() == Some(&Token::Many));
        let is_path = words.len() > 1
            && matches!(words.last(), Some(PatternWord::Tokens(tokens)) if tokens.contains(&Token::Char('/')));
        Ok(Self {
            open_for_allow: prefix || (glued && !is_path) || words.is_empty(),
            open: prefix || glued || words.is_empty(),
            words,
            assignments: command
                .assignments
                .iter()
                .map(|assignment| (assignment.name.clone(), of_word(&assignment.value)))
                .collect(),
            program: command.program().map(str::to_owned),
        })
    }

    /// Whether the pattern matches the command whatever its unknown parts are: for an allow rule.
    pub(super) fn covers(&self, command: &Command) -> bool {
        let Some(program) = command.words.first() else { return false };
        let plain = program.known().map(plain_program);
        if let (Some(wanted), Some((text, short))) = (&self.program, plain)
            && wanted != text
            && wanted != short
        {
            return false;
        }
        let mine = |name: &str| self.assignments.iter().find(|(own, _)| own == name);
        let assignments_fine = command.assignments.iter().all(|assignment| {
            is_harmless(&assignment.name)
                || mine(&assignment.name).is_some_and(|(_, value)| covers(value, &of_word(&assignment.value)))
        });
        let starts = match plain {
            Some((text, short)) if text != short => vec![of_text(text), of_text(short)],
            _ => vec![of_word(program)],
        };
        let words = command.arguments();
        assignments_fine
            && !program.may_split()
            && starts.iter().any(|start| self.covers_words(start, words.iter()))
    }

    fn covers_words<'a>(&self, program: &[Token], words: impl Iterator<Item = &'a Word>) -> bool {
        let mut states = States::new(&self.words, self.open_for_allow);
        states.step_covering(program, false);
        words.for_each(|word| states.step_covering(&of_word(word), word.may_split()));
        states.is_end()
    }

    /// How well the pattern matches the command under any of its names, with flags in any order: for a deny rule.
    pub(super) fn fits(&self, command: &Command) -> Fit {
        let Some(program) = command.words.first() else {
            return if self.words.is_empty() { self.fits_assignments(command) } else { Fit::No };
        };
        if program.may_split() {
            // An unknown word can become any program with any arguments.
            return Fit::Perhaps;
        }
        let names: Vec<Vec<Token>> = match program.known() {
            Some(text) => {
                let short = base_name(text);
                if self.program.as_ref().is_some_and(|wanted| wanted != text && wanted != short) {
                    return Fit::No;
                }
                if text == short { vec![of_text(text)] } else { vec![of_text(text), of_text(short)] }
            }
            None => {
                let whole = of_word(program);
                let short = crate::token::base_name(&whole).to_vec();
                vec![whole, short]
            }
        };
        let argument_lists = after_options(command);
        let best = names.iter().flat_map(|name| {
            argument_lists.iter().map(|words| {
                let plain = self.fits_words(name, program.may_split(), words.iter());
                plain.max(flag::fits(self, name, program, words))
            })
        });
        best.max().unwrap_or(Fit::No).min(self.fits_assignments(command))
    }

    pub(super) fn fits_words<'a>(
        &self,
        program: &[Token],
        splits: bool,
        words: impl Iterator<Item = &'a Word> + Clone,
    ) -> Fit {
        let mut states = States::new(&self.words, self.open);
        states.step_meeting(program, splits);
        words.clone().for_each(|word| states.step_meeting(&of_word(word), word.may_split()));
        match states.is_end() {
            false => Fit::No,
            true if !splits && self.covers_words(program, words) => Fit::Yes,
            true => Fit::Perhaps,
        }
    }

    fn fits_assignments(&self, command: &Command) -> Fit {
        let fits = |(name, value): &(String, Vec<Token>)| {
            command.assignments.iter().any(|one| one.name == *name && meets(value, &of_word(&one.value)))
        };
        if self.assignments.iter().all(fits) { Fit::Yes } else { Fit::No }
    }
}

/// The arguments, and the arguments without the options in front of a subcommand: `git -C x push` is a `git push`.
fn after_options(command: &Command) -> Vec<&[Word]> {
    let words = command.arguments();
    let is_option = |word: &Word| word.head().len() > 1 && word.head().starts_with('-');
    let mut lists = vec![words];
    if command.name() == Some("git") {
        lists.push(words.get(git_subcommand(words)..).unwrap_or_default());
    } else if words.first().is_some_and(is_option) {
        // Up to three options; each may have its value after it.
        for at in 1..words.len().min(7) {
            if !is_option(&words[at]) && is_option(&words[at - 1]) {
                lists.push(&words[at..]);
                lists.push(&words[at + 1..]);
            }
        }
    }
    lists
}

/// Whether a variable may be set in front of an allowed command.
pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

/// Whether a variable changes what later commands do.
pub(super) fn is_risky(name: &str) -> bool {
    RISKY.iter().any(|risky| name.starts_with(risky))
}

/// A program and its base name: `git` for `/usr/bin/git`, but not for `./git`.
fn plain_program(text: &str) -> (&str, &str) {
    let system = SYSTEM.into_iter().find_map(|folder| text.strip_prefix(folder));
    (text, system.filter(|name| !name.contains('/')).unwrap_or(text))
}
