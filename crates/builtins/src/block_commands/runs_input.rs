//! Programs for texts that run what they read: `awk '{system($0)}'`, `perl -ne '`$_`'`, `sed e`.

use std::ops::Range;

use super::fit::CommandContext;
use crate::shell::{Command, Direction, Word, base_name};

/// How many commands before one are searched for a descriptor that it reads.
const MAX_BEFORE: usize = 32;

/// Programs that run the command after their options: what they print is what it prints.
const WRAPPERS: [&str; 31] = [
    "busybox",
    "toybox",
    "sudo",
    "doas",
    "run0",
    "env",
    "genv",
    "timeout",
    "gtimeout",
    "nice",
    "ionice",
    "nohup",
    "setsid",
    "time",
    "stdbuf",
    "unbuffer",
    "chronic",
    "command",
    "builtin",
    "exec",
    "xargs",
    "proxychains",
    "proxychains4",
    "torsocks",
    "torify",
    "faketime",
    "strace",
    "ltrace",
    "firejail",
    "unshare",
    "setpriv",
];

/// What runs a text, in code without whitespace and quotes.
const RUNS: [&str; 19] = [
    "system(",
    "exec(",
    "eval(",
    "evaljoin",
    "eval<",
    "eval$",
    "evalstdin",
    "evalargf",
    "evalgets",
    "popen(",
    "spawn(",
    "subprocess.",
    "qx",
    "`",
    "|sh",
    "|bash",
    "|/bin/",
    "load(io",
    "instance_eval",
];

/// What is the input, or a line of it.
const INPUTS: [&str; 16] = [
    "$0",
    "$1",
    "$_",
    "stdin",
    "<>",
    "argf",
    "gets",
    "input(",
    "open(0)",
    "filesync(0",
    "io.read",
    "{print|",
    ";print|",
    "print$0|",
    "line|getline",
    "$<",
];

impl CommandContext<'_> {
    /// Whether the code of an interpreter runs its input, or a filter does.
    pub(super) fn runs_its_input(&self) -> bool {
        match self.command.name() {
            Some("sed" | "gsed" | "ssed") => self.command.arguments().iter().any(runs_lines),
            Some("ed" | "ex") => true,
            _ => self.command.code.iter().any(|code| runs_text(code)),
        }
    }

    /// The words that say where the descriptors that the command reads code from come from: `exec 5< <(curl …)`.
    pub(super) fn descriptor_sources<'s>(&'s self, code: &'s [Word]) -> Vec<&'s Word> {
        let named = code.iter().filter_map(Word::known).find_map(|file| {
            let number = file.strip_prefix("/dev/fd/").or_else(|| file.strip_prefix("/proc/self/fd/"))?;
            number.parse::<u32>().ok()
        });
        let is_copy = |redirection: &&crate::shell::Redirection| {
            let copies = match redirection.direction {
                Direction::Duplicate => true,
                // `<&$fd`
                Direction::Read => redirection.target.known().is_none(),
                _ => false,
            };
            copies && redirection.descriptor == 0
        };
        let copied = self.command.redirections.iter().rev().find(is_copy).map(|copy| &copy.target);
        let copied_number = copied.and_then(Word::known).map(|text| text.trim_end_matches('-').parse().ok());
        if named.is_none() && copied.is_none() {
            return Vec::new();
        }
        // A descriptor in a variable can be any that was opened.
        let number: Option<u32> = named.or(copied_number.flatten());
        let start = self.at.saturating_sub(MAX_BEFORE);
        let commands = self.script.commands[start..=self.at].iter();
        let opened = commands.flat_map(|command| &command.redirections).filter(|redirection| {
            matches!(redirection.direction, Direction::Read | Direction::Both)
                && number.is_none_or(|number| redirection.descriptor == number)
        });
        opened.map(|redirection| &redirection.target).chain(copied).collect()
    }
}

/// The names of the program whose output this is: its own, and that of a program which it starts.
pub(super) fn names_of(command: &Command) -> impl Iterator<Item = &str> {
    const MAX_OPERANDS: usize = 4;
    let name = command.name();
    let wraps = name.is_some_and(|name| WRAPPERS.contains(&name));
    let words = if wraps { command.arguments() } else { &[] };
    let operands = words.iter().filter_map(Word::known).filter(|word| !word.starts_with('-'));
    name.into_iter().chain(operands.take(MAX_OPERANDS).map(base_name))
}

/// All of these commands, and those that they run: functions, aliases, programs after `sudo`.
pub(super) fn in_ranges(commands: &[Command], ranges: Vec<Range<usize>>) -> Vec<&Command> {
    // In a longer line, looking for them would take too long.
    const MOST: usize = 128;
    let mut all: Vec<&Command> =
        ranges.iter().flat_map(|range| commands.get(range.clone()).unwrap_or_default()).collect();
    if ranges.is_empty() || commands.len() > MOST {
        return all;
    }
    let is_in = |at: usize| ranges.iter().any(|range| range.contains(&at));
    let is_run = |command: &&Command| {
        let carrier = command.wrapper;
        let above = || carrier.and_then(|at| commands.get(at)).and_then(|command| command.wrapper);
        carrier.is_some_and(is_in) || above().is_some_and(is_in)
    };
    all.extend(commands.iter().filter(is_run));
    all
}

/// Whether code in a language for texts runs what it reads.
fn runs_text(code: &str) -> bool {
    let dense: String = code
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '"'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let has = |words: &[&str]| words.iter().any(|word| dense.contains(word));
    has(&RUNS) && has(&INPUTS) || dense.contains("|getline") && has(&["=$0", "$0|", "$1|"])
}

/// Whether a script of `sed` runs lines: `e` as a command, or as a flag of `s`.
fn runs_lines(script: &Word) -> bool {
    let Some(script) = script.known() else { return false };
    if script.starts_with('-') {
        return false;
    }
    script.split([';', '\n']).map(str::trim).any(|part| {
        let after = part.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | ' '));
        let flags = part.rsplit(['/', '|', '#', ',']).next().unwrap_or_default();
        let substitutes = after.starts_with('s') && part.matches(['/', '|', '#', ',']).count() > 2;
        after == "e" || after.starts_with("e ") || (substitutes && is_flags(flags) && flags.contains('e'))
    })
}

fn is_flags(flags: &str) -> bool {
    !flags.is_empty() && flags.bytes().all(|byte| b"0123456789egpimIM".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{runs_lines, runs_text};
    use crate::shell::Word;

    #[test]
    fn code_that_runs_its_input_is_told_from_other_code() {
        for code in ["{system($0)}", "{print | \"sh\"}", "eval join '', <>", "exec(sys.stdin.read())", "`$_`"]
        {
            assert!(runs_text(code), "{code}");
        }
        for code in ["{print $1}", "print if /eval/", "puts JSON.parse(STDIN.read)", "s/a/$1/"] {
            assert!(!runs_text(code), "{code}");
        }
    }

    #[test]
    fn scripts_of_sed_that_run_lines_are_told_from_others() {
        let runs = |script: &str| runs_lines(&Word::literal(script));
        for script in ["e", "1e", "s/.*/&/e", "s|a|b|ge", "p;e"] {
            assert!(runs(script), "{script}");
        }
        for script in ["s/e/a/", "s/a/e/g", "-e", "/e/d", "s/x/the/", "file", "a/b/c/e"] {
            assert!(!runs(script), "{script}");
        }
    }
}
