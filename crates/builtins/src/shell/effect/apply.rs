//! Applies a row of the table to the words of a command.

use std::borrow::Cow;

use super::inner::{awk_files, file_of_address, git_config_file, sed_files, sqlite_files};
use super::table::{self, OptionRole, Role, Row};
use super::{Effect, FileUse};
use crate::shell::model::Command;
use crate::shell::word::Word;

/// Adds the files that the words of a command name.
pub(super) fn files<'a>(command: &'a Command, uses: &mut Vec<FileUse<'a>>) {
    let Some(program) = command.words.first() else { return };
    if program.known().is_none_or(|program| program.contains('/')) {
        uses.push(FileUse { path: Cow::Borrowed(program), effect: Effect::Read });
    }
    if command.name() == Some("find") {
        return find(command.arguments(), uses);
    }
    if matches!(command.name(), Some("tar" | "gtar" | "bsdtar")) {
        return tar(command.arguments(), uses);
    }
    if matches!(command.name(), Some("chmod" | "gchmod")) && closes(command.arguments()) {
        let files = command.arguments().iter().filter(|word| !word.head().starts_with('-')).skip(1);
        return uses.extend(files.map(|word| FileUse { path: Cow::Borrowed(word), effect: Effect::Stat }));
    }
    if command.name() == Some("perl") && edits_in_place(command.arguments()) {
        let files = command.arguments().iter().filter(|word| !word.head().starts_with('-'));
        // The first of them may be the code.
        return uses
            .extend(files.skip(1).map(|word| FileUse { path: Cow::Borrowed(word), effect: Effect::Write }));
    }
    if let Some(words) = copied_by_container(command) {
        for (at, word) in words.iter().enumerate().filter(|(_, word)| !is_remote(word)) {
            let effect = if at + 1 == words.len() { Effect::Write } else { Effect::Read };
            uses.push(FileUse { path: Cow::Borrowed(*word), effect });
        }
        return;
    }
    match command.name() {
        Some("sed" | "gsed" | "ssed") => sed_files(command.arguments(), uses),
        Some("awk" | "gawk" | "mawk" | "nawk") => awk_files(command.arguments(), uses),
        Some("sqlite3" | "sqlite") => sqlite_files(command.arguments(), uses),
        Some("git") => git_config_file(command.arguments(), uses),
        _ => {}
    }
    redirected_by_windows(command, uses);
    match table::find(command) {
        Some((row, from)) => {
            let words = command.words.get(from..).unwrap_or_default();
            if !words.iter().any(asks_for_help) {
                Reader {
                    row,
                    uses,
                    operands: Vec::new(),
                    all: None,
                    last: None,
                    has_pattern: false,
                    has_target: false,
                }
                .read(words);
            }
        }
        None => unknown(command.arguments(), uses),
    }
}

/// `>` as a word of its own: lines of PowerShell and cmd are not taken apart further.
fn redirected_by_windows<'a>(command: &'a Command, uses: &mut Vec<FileUse<'a>>) {
    let prints = |name: &str| {
        ["echo", "write-output", "write-host", "get-content", "type", "set", "dir"]
            .iter()
            .any(|one| name.eq_ignore_ascii_case(one))
    };
    let is_arrow = |word: &Word| matches!(word.known(), Some(">" | ">>" | "1>"));
    // The text before it may be the command: `'{}' > file`.
    let is_text = command.words.get(1).is_some_and(is_arrow) && table::find(command).is_none();
    if !is_text && !command.words.first().and_then(Word::known).is_some_and(prints) {
        return;
    }
    for pair in command.words.windows(2) {
        if is_arrow(&pair[0]) {
            uses.push(FileUse { path: Cow::Borrowed(&pair[1]), effect: Effect::Write });
        }
    }
}

fn asks_for_help(word: &Word) -> bool {
    matches!(word.known(), Some("--help" | "--version"))
}

/// Whether a mode only takes rights away from others: `chmod 600 key`.
fn closes(words: &[Word]) -> bool {
    let mode = words.iter().find_map(|word| word.known().filter(|text| !text.starts_with("--")));
    let mode = mode.unwrap_or_default();
    matches!(mode.trim_start_matches('0'), "400" | "500" | "600" | "700")
        || matches!(
            mode,
            "go-rwx" | "og-rwx" | "go=" | "og=" | "u=rw,go=" | "u=r,go=" | "o-rwx" | "g-rwx,o-rwx"
        )
}

/// `perl -pi -e CODE file`
fn edits_in_place(words: &[Word]) -> bool {
    words.iter().filter_map(|word| word.head().strip_prefix('-')).any(|letters| {
        let flags = letters.split(['.', '~']).next().unwrap_or_default();
        flags.contains('i') && flags.bytes().all(|byte| b"0123456789aillnpsw".contains(&byte) || byte == b'e')
    })
}

/// The words of a program that is not in the table.
fn unknown<'a>(words: &'a [Word], uses: &mut Vec<FileUse<'a>>) {
    for word in words {
        let head = word.head();
        let path = match head.find('=') {
            Some(equals) => Cow::Owned(word.after(equals + 1)),
            None if head.starts_with('-') => continue,
            None if head.starts_with('@') => Cow::Owned(word.after(1)),
            None => Cow::Borrowed(word),
        };
        if !path.pieces().is_empty() {
            uses.push(FileUse { path, effect: Effect::Unknown });
        }
    }
}

struct Reader<'a, 'u> {
    row: &'static Row,
    uses: &'u mut Vec<FileUse<'a>>,
    /// Operands, and whether they come after `--`.
    operands: Vec<(&'a Word, bool)>,
    all: Option<Role>,
    last: Option<Role>,
    has_pattern: bool,
    /// Whether an option (`-t`) named the target: then the last operand is like the others.
    has_target: bool,
}

impl<'a> Reader<'a, '_> {
    fn read(mut self, words: &'a [Word]) {
        let mut at = 0;
        let mut dashes = false;
        while let Some(word) = words.get(at) {
            at += 1;
            let head = word.head();
            if dashes || head.len() < 2 || !head.starts_with('-') {
                self.operands.push((word, dashes));
            } else if word.known() == Some("--") {
                dashes = true;
            } else {
                at = match self.option(word, words, at) {
                    Some(next) => next,
                    None => return self.finish(),
                };
            }
        }
        self.finish();
    }

    /// Reads an option; returns the index of the next word, or none when the rest belongs to something else.
    fn option(&mut self, word: &'a Word, words: &'a [Word], at: usize) -> Option<usize> {
        let head = word.head();
        let name = head.split('=').next().unwrap_or_default();
        if let Some(meaning) = self.row.option(name) {
            let glued = head.contains('=').then(|| word.after(name.len() + 1));
            return self.meaning(*meaning, glued, words, at);
        }
        if head.starts_with("--") {
            if head.contains('=') {
                let path = Cow::Owned(word.after(name.len() + 1));
                self.uses.push(FileUse { path, effect: Effect::Unknown });
            }
            return Some(at);
        }
        // `-rno FILE`, `-oFILE`
        let mut next = at;
        for (place, letter) in head.char_indices().skip(1) {
            let end = place + letter.len_utf8();
            // No option of the table has another letter.
            let Ok(letter) = u8::try_from(letter) else { continue };
            let option = [b'-', letter];
            let option = std::str::from_utf8(&option).unwrap_or_default();
            let Some(meaning) = self.row.option(option) else { continue };
            let glued = (end < head.len() || word.known().is_none()).then(|| word.after(end));
            let takes_value = !matches!(meaning, OptionRole::All(_) | OptionRole::Last(_) | OptionRole::Flag);
            next = self.meaning(*meaning, glued.filter(|_| takes_value), words, at)?;
            if takes_value {
                break;
            }
        }
        Some(next)
    }

    fn meaning(
        &mut self,
        meaning: OptionRole,
        glued: Option<Word>,
        words: &'a [Word],
        at: usize,
    ) -> Option<usize> {
        let flag = |role| match role {
            OptionRole::All(role) => Some((Some(role), None)),
            OptionRole::Last(role) => Some((None, Some(role))),
            OptionRole::Flag => Some((None, None)),
            _ => None,
        };
        if let Some((all, last)) = flag(meaning) {
            // `Stat` takes precedence over all other roles.
            if self.all != Some(Role::Stat) {
                self.all = all.or(self.all);
            }
            self.last = last.or(self.last);
            return Some(at);
        }
        let next = at + usize::from(glued.is_none());
        let value: Option<Cow<'a, Word>> = match glued {
            Some(word) => Some(Cow::Owned(word)),
            None => words.get(at).map(Cow::Borrowed),
        };
        match meaning {
            OptionRole::Rest => return None,
            OptionRole::CodeRest => {
                let rest = words.get(next..).unwrap_or_default();
                self.uses.extend(
                    rest.iter()
                        .filter(|word| !word.head().starts_with('-'))
                        .map(|word| FileUse { path: Cow::Borrowed(word), effect: Effect::Unknown }),
                );
                return None;
            }
            OptionRole::TwoTexts => return Some(next + 1),
            OptionRole::TextAndFile => {
                self.use_file(words.get(next).map(Cow::Borrowed), Role::Read);
                return Some(next + 1);
            }
            OptionRole::Pattern => self.has_pattern = true,
            OptionRole::PatternFile => {
                self.has_pattern = true;
                self.use_file(value, Role::Read);
            }
            OptionRole::AtFile => self.at_file(value),
            OptionRole::InPlace => {
                if value.as_ref().is_some_and(|value| value.known() == Some("inplace")) {
                    self.all = Some(Role::Write);
                }
            }
            OptionRole::Value(role) => {
                self.has_target |= role == Role::Write;
                self.use_file(value, role);
            }
            OptionRole::All(_) | OptionRole::Last(_) | OptionRole::Flag => {}
        }
        Some(next)
    }

    /// `@file`, `name=@file`, `name@file`, `name=<file`
    fn at_file(&mut self, value: Option<Cow<'a, Word>>) {
        let Some(value) = value else { return };
        let head = value.head();
        if let Some(mark) = head.find('@').or_else(|| head.find("=<").map(|at| at + 1))
            && !head[..mark].contains([' ', ':', '{', '"'])
        {
            let path = value.after(mark + 1);
            // `file=@a;type=text/plain`
            let path = match path.known().and_then(|text| text.split_once(';')) {
                Some((name, _)) => Word::literal(name),
                None => path,
            };
            self.use_file(Some(Cow::Owned(path)), Role::Read);
        }
    }

    fn use_file(&mut self, word: Option<Cow<'a, Word>>, role: Role) {
        let Some(word) = word else { return };
        let effect = match role {
            Role::Text | Role::Code => return,
            Role::LocalRead | Role::LocalWrite if is_remote(&word) => return,
            Role::Address => {
                let path = file_of_address(&word).map(Cow::Owned);
                self.uses.extend(path.map(|path| FileUse { path, effect: Effect::Read }));
                return;
            }
            Role::Stat => Effect::Stat,
            Role::Read | Role::LocalRead => Effect::Read,
            Role::Write | Role::LocalWrite | Role::Checkout => Effect::Write,
            Role::Delete | Role::Move => Effect::Delete,
            Role::Any => Effect::Unknown,
        };
        // A list of PowerShell: `a, b`.
        let word = match word.known().and_then(|text| text.strip_suffix(',')) {
            Some(text) if !text.is_empty() => Cow::Owned(Word::literal(text)),
            _ => word,
        };
        if word.known() != Some("-") {
            self.uses.push(FileUse { path: word, effect });
        }
    }

    fn finish(mut self) {
        let operands = std::mem::take(&mut self.operands);
        let count = operands.len();
        let mut place = 0;
        for (number, (word, after_dashes)) in operands.into_iter().enumerate() {
            if let Some((name, role)) =
                self.row.prefixes.iter().find(|(name, _)| word.head().starts_with(name))
            {
                let value = word.after(name.len() + usize::from(word.head()[name.len()..].starts_with('=')));
                self.use_file(Some(Cow::Owned(value)), *role);
                continue;
            }
            let is_last = count > 1 && number + 1 == count;
            let own = |place: usize| {
                let roles = &self.row.operands;
                roles.get(place).or(if self.row.repeats { roles.last() } else { None }).copied()
            };
            let mut role = own(place);
            if role == Some(Role::Code) && self.has_pattern {
                place += 1;
                role = own(place);
            }
            place += 1;
            if role == Some(Role::Checkout) && !after_dashes {
                // It is a branch or a path.
                role = word.head().contains(['/', '.']).then_some(Role::Checkout);
            }
            let is_target = is_last && self.row.last.is_some() && !self.has_target;
            if is_target {
                role = self.row.last;
            }
            let is_file = !matches!(role, None | Some(Role::Text | Role::Code));
            let is_far = matches!(role, Some(Role::LocalRead | Role::LocalWrite)) && is_remote(word);
            if is_file && !is_far {
                role = match (self.all, self.last) {
                    (Some(Role::Stat), _) if self.row.last.is_none() || is_target => Some(Role::Stat),
                    (_, Some(last)) if is_target => Some(last),
                    (Some(all), _) if !is_target => {
                        Some(if all == Role::Stat { role.unwrap_or(all) } else { all })
                    }
                    _ => role,
                };
            }
            if let Some(role) = role {
                self.use_file(Some(Cow::Borrowed(word)), role);
            }
        }
    }
}

/// The two paths of `docker cp`, one of which is in a container.
fn copied_by_container(command: &Command) -> Option<Vec<&Word>> {
    if !matches!(command.name(), Some("docker" | "podman" | "nerdctl" | "kubectl" | "oc")) {
        return None;
    }
    let words = command.arguments();
    let place = words.iter().take(3).position(|word| word.known() == Some("cp"))?;
    Some(words[place + 1..].iter().filter(|word| !word.head().starts_with('-')).collect())
}

/// `host:path`, `user@host:path`, `rsync://…`
fn is_remote(word: &Word) -> bool {
    let head = word.head();
    head.find(':').is_some_and(|colon| !head[..colon].contains('/') || head[colon..].starts_with("://"))
}

/// `find`: where it looks, and the files that it writes.
fn find<'a>(words: &'a [Word], uses: &mut Vec<FileUse<'a>>) {
    let is_expression = |word: &Word| word.head().starts_with(['-', '(', '!']) && word.head() != "-";
    let globals = words.iter().take_while(|word| matches!(word.known(), Some("-H" | "-L" | "-P"))).count();
    let words = words.get(globals..).unwrap_or_default();
    let paths = words.iter().take_while(|word| !is_expression(word)).count();
    let deletes = words.iter().any(|word| word.known() == Some("-delete"));
    let mut inside = false;
    for (at, word) in words.iter().enumerate().skip(paths) {
        let effect = match word.known() {
            Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                inside = true;
                continue;
            }
            Some(";" | "+") => {
                inside = false;
                continue;
            }
            Some("-fprint" | "-fprint0" | "-fprintf" | "-fls") if !inside => Effect::Write,
            Some("-newer" | "-samefile" | "-anewer" | "-cnewer") if !inside => Effect::Stat,
            Some("-files0-from") if !inside => Effect::Read,
            _ => continue,
        };
        uses.extend(words.get(at + 1).map(|word| FileUse { path: Cow::Borrowed(word), effect }));
    }
    let effect = if deletes { Effect::Delete } else { Effect::Stat };
    uses.extend(words[..paths].iter().map(|word| FileUse { path: Cow::Borrowed(word), effect }));
}

/// `tar`: an archive that is written from files, or read into a folder.
fn tar<'a>(words: &'a [Word], uses: &mut Vec<FileUse<'a>>) {
    const VALUES: &str = "fCTXbgHVKNLIF";
    const LONG: [&str; 8] = [
        "--exclude",
        "--exclude-from",
        "--files-from",
        "--transform",
        "--xform",
        "--strip-components",
        "--owner",
        "--use-compress-program",
    ];
    let letters = |word: &Word| {
        let head = word.head();
        head.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default().to_owned()
    };
    let mode = words.first().map(Word::head).unwrap_or_default();
    let is_bare =
        !mode.starts_with('-') && mode.len() < 8 && mode.bytes().all(|byte| byte.is_ascii_alphabetic());
    let all: String = words.iter().map(letters).chain(is_bare.then(|| mode.to_owned())).collect();
    let long = |name: &str| words.iter().any(|word| word.known() == Some(name));
    let creates =
        all.contains(['c', 'r', 'u', 'A']) || long("--create") || long("--append") || long("--update");
    let lists = !creates && (all.contains('t') || long("--list"));
    let archive = if creates { Effect::Write } else { Effect::Read };
    let packed = if long("--remove-files") { Effect::Delete } else { Effect::Read };
    let mut add = |word: Option<Cow<'a, Word>>, effect| {
        uses.extend(word.filter(|word| word.known() != Some("-")).map(|path| FileUse { path, effect }));
    };
    // Option letters that take their values from the next words, in order: `tar czfC a b`.
    let mut waiting: Vec<char> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let head = word.head();
        let is_long_option = head.starts_with("--") && head.len() > 2;
        if !waiting.is_empty() && !is_long_option {
            match waiting.remove(0) {
                'f' => add(Some(Cow::Borrowed(word)), archive),
                'C' if !lists => {
                    add(Some(Cow::Borrowed(word)), if creates { Effect::Stat } else { Effect::Write })
                }
                'T' | 'X' => add(Some(Cow::Borrowed(word)), Effect::Read),
                _ => {}
            }
        } else if head.starts_with("--") {
            let (name, glued) = match head.split_once('=') {
                Some((name, _)) => (name, Some(Cow::Owned(word.after(name.len() + 1)))),
                None => (head, None),
            };
            match name {
                "--file" if glued.is_some() => add(glued, archive),
                "--file" => waiting.push('f'),
                "--directory" if glued.is_some() => add(glued, Effect::Write),
                "--directory" => waiting.push('C'),
                name if glued.is_none() && LONG.contains(&name) => waiting.push('-'),
                _ => {}
            }
        } else if (at == 0 && is_bare) || head.starts_with('-') {
            let letters = head.trim_start_matches('-');
            for (place, letter) in letters.char_indices().filter(|(_, letter)| VALUES.contains(*letter)) {
                let rest = place + letter.len_utf8();
                if rest < letters.len() && head.starts_with('-') {
                    let value = Some(Cow::Owned(word.after(head.len() - letters.len() + rest)));
                    match letter {
                        'f' => add(value, archive),
                        'C' => add(value, Effect::Write),
                        _ => {}
                    }
                    break;
                }
                waiting.push(letter);
            }
        } else if creates {
            add(Some(Cow::Borrowed(word)), packed);
        }
    }
}
