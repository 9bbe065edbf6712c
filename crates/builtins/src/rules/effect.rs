//! What a command does beyond what its name says: programs that read files, but write them or run others with an
//! option.

use super::command::{CommandPattern, PatternWord};
use crate::shell::{Command, Effect, Word};
use crate::token::Token;

/// Programs that read files; writing one must be allowed separately.
const READERS: &[&str] = &[
    "awk", "gawk", "mawk", "bat", "cat", "column", "cut", "diff", "du", "fd", "find", "git", "grep", "egrep",
    "fgrep", "head", "jq", "yq", "less", "ls", "nl", "od", "rg", "sed", "sort", "strings", "tail", "tree",
    "uniq", "wc", "xxd",
];

/// Options with which a program runs another one, in a way that the shell parser does not see.
const RUNS: &[(&str, &[&str])] = &[
    (
        "tar",
        &[
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "--rsh-command",
            "-F",
            "--info-script",
            "--new-volume-script",
        ],
    ),
    (
        "git",
        &[
            "-c",
            "--config-env",
            "--exec-path",
            "--upload-pack",
            "--receive-pack",
            "--ext-diff",
            "--textconv",
            "--exec",
            "-x",
            "--open-files-in-pager",
            "--template",
        ],
    ),
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--compress-program"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("ssh", &["-o", "-F"]),
    ("scp", &["-o", "-S", "-F"]),
    ("man", &["-P", "--pager", "-H"]),
    ("less", &["-k", "--lesskey-file"]),
    ("zip", &["-TT", "--unzip-command"]),
    ("wget", &["--use-askpass", "-e", "--execute"]),
    ("curl", &["-K", "--config"]),
];

/// The option with which a command runs another program, when the pattern does not name it.
pub(super) fn unnamed_run<'c>(pattern: &CommandPattern, command: &'c Command) -> Option<&'c str> {
    let name = command.name()?;
    let (_, options) = RUNS.iter().find(|(program, _)| *program == name)?;
    let words = command.arguments().iter().take_while(|word| word.known() != Some("--"));
    let mut heads = words.map(Word::head);
    heads.find(|head| options.iter().any(|option| is_option(head, option)) && !names(pattern, head))
}

/// The files that a program from `READERS` writes because of an option, when the pattern does not name the option.
pub(super) fn unnamed_writes(pattern: &CommandPattern, command: &Command) -> Vec<Word> {
    let is_reader = command.name().is_some_and(|name| READERS.contains(&name));
    let is_named = command.arguments().iter().any(|word| {
        let head = word.head();
        head.len() > 1 && head.starts_with('-') && names(pattern, head)
    });
    // What `git` does to files depends on its subcommand, which a rule names.
    let by_subcommand = command.name() == Some("git")
        && !command.arguments().iter().any(|word| word.head().starts_with("--output"));
    if !is_reader || is_named || by_subcommand {
        return Vec::new();
    }
    let redirected = |word: &Word| command.redirections.iter().any(|redirection| redirection.target == *word);
    let files = command.files().into_iter();
    files
        .filter(|file| matches!(file.effect, Effect::Write | Effect::Delete) && !redirected(&file.path))
        .map(|file| file.path.into_owned())
        .collect()
}

/// `-o`, `-oX`, `--option`, `--option=X`
fn is_option(head: &str, option: &str) -> bool {
    let is_short = option.len() == 2;
    head == option
        || head
            .strip_prefix(option)
            .is_some_and(|rest| is_short && !head.starts_with("--") || rest.starts_with('='))
}

/// Whether a pattern contains exactly this option.
fn names(pattern: &CommandPattern, head: &str) -> bool {
    let option = head.split('=').next().unwrap_or(head);
    pattern.words.iter().any(|word| match word {
        PatternWord::Any => false,
        PatternWord::Tokens(tokens) => {
            let mut letters = tokens.iter();
            option.chars().all(|c| letters.next() == Some(&Token::Char(c)))
        }
    })
}
