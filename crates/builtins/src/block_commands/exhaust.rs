//! Lines that use up a machine: loops without an end, files without an end, and sizes that no disk has.

use super::fit::{CommandContext, is_change};
use super::shape::is_remote_address;
use crate::shell::{Direction, Input, Redirection, Word};

/// A file of this size is made by mistake, or to fill a disk: 64 GiB.
const HUGE: f64 = (64_u64 << 30) as f64;

/// This many lines of numbers fill a disk.
const MANY_LINES: f64 = 1e9;

/// Files of unlimited size.
const ENDLESS_FILES: [&str; 4] = ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"];

/// Programs that create a new file or folder each time.
const FILE_CREATORS: [&str; 12] = [
    "touch",
    "mkdir",
    "mktemp",
    "fallocate",
    "truncate",
    "dd",
    "cp",
    "tee",
    "mkfifo",
    "gzip",
    "tar",
    "split",
];

impl CommandContext<'_> {
    /// Whether the command is in a loop without an end, and uses something up there.
    pub(super) fn is_in_endless_loop(&self) -> bool {
        let command = self.command;
        if !command.execution.is_endless {
            return false;
        }
        if command.words.is_empty() {
            return self.only_assigns() || command.redirections.iter().any(appends);
        }
        command.execution.in_background
            || command.name().is_some_and(|name| FILE_CREATORS.contains(&name))
            || command.redirections.iter().any(appends)
            || command.arguments().iter().any(is_remote_address)
    }

    /// Whether the loop only assigns variables: `while :; do a=$a$a; done`.
    fn only_assigns(&self) -> bool {
        let mut others = self.script.commands.iter().filter(|other| other.execution.is_endless);
        let changes = !self.command.assignments.is_empty();
        changes && others.all(|other| other.words.is_empty() || matches!(other.name(), Some(":" | "true")))
    }

    /// Whether the command before it in the pipeline never ends.
    pub(super) fn reads_without_end(&self) -> bool {
        let Input::Pipe(range) = &self.command.input else { return false };
        let commands = self.script.commands.get(range.clone()).unwrap_or_default();
        let is_endless = |word: &Word| word.known().is_some_and(|path| ENDLESS_FILES.contains(&path));
        commands.iter().any(|command| match command.name() {
            Some("yes") => true,
            Some("cat" | "pv") => {
                let mut reads = command.redirections.iter().map(|redirection| &redirection.target);
                command.arguments().iter().any(is_endless) || reads.any(is_endless)
            }
            _ => false,
        })
    }

    /// Whether the command makes a file that is larger than most disks.
    pub(super) fn makes_huge(&self) -> bool {
        let words: Vec<&str> = self.command.arguments().iter().filter_map(Word::known).collect();
        let value = |name: &str| {
            words.iter().find_map(|word| word.strip_prefix(name)).and_then(size).unwrap_or_default()
        };
        match self.command.name() {
            Some("dd" | "gdd") => {
                let block = ["bs=", "obs=", "ibs="].into_iter().map(value).fold(0.0, f64::max);
                let block = if block > 0.0 { block } else { 512.0 };
                let writes_file = words.iter().any(|word| word.starts_with("of=") && *word != "of=/dev/null");
                writes_file && block * value("count=") >= HUGE
            }
            Some("seq" | "jot") => {
                let writes = self.files().iter().any(|file| is_change(file.effect));
                writes && words.iter().filter_map(|word| size(word)).any(|number| number >= MANY_LINES)
            }
            _ => words.iter().filter_map(|word| size_of_option(word)).any(|size| size >= HUGE),
        }
    }
}

/// Whether a redirection appends.
fn appends(redirection: &Redirection) -> bool {
    redirection.direction == Direction::Write && !redirection.target.head().starts_with("/dev/")
}

/// `-l900G`, `--length=1T`, `5g`
fn size_of_option(word: &str) -> Option<f64> {
    let value = match word.split_once('=') {
        Some((name, value)) if name.starts_with('-') => value,
        _ => word.trim_start_matches(|c: char| c == '-' || c.is_ascii_alphabetic()),
    };
    size(value)
}

/// The number that a text means: `10`, `1M`, `900G`, `5GiB`, `1e12`.
fn size(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let unit = unit.to_ascii_lowercase();
    if let Some(power) = unit.strip_prefix('e').and_then(|power| power.parse::<i32>().ok()) {
        return Some(number * 10_f64.powi(power.min(64)));
    }
    let power = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        "e" => 6,
        _ => return None,
    };
    Some(number * 1024_f64.powi(power))
}

#[cfg(test)]
mod tests {
    use super::{HUGE, size, size_of_option};

    #[test]
    fn sizes_are_read() {
        assert_eq!(size("10"), Some(10.0));
        assert_eq!(size("1M"), Some(1_048_576.0));
        assert_eq!(size("2GiB"), Some(2_147_483_648.0));
        assert_eq!(size("1e12"), Some(1e12));
        assert_eq!(size("of"), None);
        assert!(
            ["-l900G", "--length=1T", "500g", "900GB"].iter().all(|text| size_of_option(text) >= Some(HUGE))
        );
        assert!(["-l4G", "1024", "x.img", "-n"].iter().all(|text| size_of_option(text) < Some(HUGE)));
    }
}
