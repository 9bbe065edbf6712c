//! Commands that run another one for each item they find or read: `find`, `fd`, `xargs`, `parallel`; and containers.

use std::ops::Range;

use super::WORD;
use super::code::names_shell;
use super::found;
use super::option::{first_operand, values};
use super::table::Wrapper;
use crate::shell::model::{Command, Input, base_name};
use crate::shell::parser::Parser;
use crate::shell::word::{Origin, Word};

impl Parser {
    /// `find … -exec rm {} \;`, and `-delete`, which is an `rm` without its name.
    pub(super) fn find(&mut self, at: usize, words: &[Word]) {
        let mut from = 0;
        let mut deletes = None;
        while let Some(word) = words.get(from) {
            from += 1;
            match word.known() {
                Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                    deletes = deletes.or(words.get(from).filter(|word| is_remover(word)).cloned());
                    let rest = words.get(from..).unwrap_or_default();
                    let ends = |word: &Word| matches!(word.known(), Some(";" | "+"));
                    let length = rest.iter().position(ends).unwrap_or(rest.len());
                    let inner = rest[..length].iter().map(|word| word.filled("{}")).collect();
                    self.run_on_named(at, &rest[..length], Some("{}"), &found::names_of_find(words));
                    self.add_wrapped(at, inner, Vec::new());
                    from += length;
                }
                Some("-delete") => {
                    deletes = Some(Word::literal("rm"));
                    self.add_wrapped(at, vec![Word::literal("rm"), Word::unknown()], Vec::new());
                }
                None if word.may_split() => self.unknown("what `find` does cannot be known"),
                _ => {}
            }
        }
        if let Some(program) = deletes {
            self.delete_found(at, program, words);
        }
    }

    /// Deleting everything that `find` finds without a condition deletes the folders it searches.
    fn delete_found(&mut self, at: usize, program: Word, words: &[Word]) {
        const NO_CONDITIONS: [&str; 19] = [
            "-type",
            "-maxdepth",
            "-mindepth",
            "-xdev",
            "-mount",
            "-depth",
            "-d",
            "-print",
            "-print0",
            "-delete",
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-follow",
            "-L",
            "-H",
            "-P",
            "-x",
        ];
        let (mut inside, mut is_negated) = (false, false);
        for word in words {
            match word.known() {
                Some("-exec" | "-execdir" | "-ok" | "-okdir") => inside = true,
                Some(";" | "+") => inside = false,
                // A name pattern that matches everything is not a condition.
                Some("*") => return self.delete_roots(at, program, words),
                Some("-not" | "!") => {
                    // A negation: everything except what the next condition selects.
                    is_negated = true;
                    continue;
                }
                Some(_) if is_negated => {}
                Some(text)
                    if !inside
                        && text.starts_with('-')
                        && !NO_CONDITIONS.contains(&text)
                        && !words.iter().any(|word| word.known() == Some("*")) =>
                {
                    return;
                }
                _ => {}
            }
            is_negated = false;
        }
        self.delete_roots(at, program, words);
    }

    fn delete_roots(&mut self, at: usize, program: Word, words: &[Word]) {
        let is_path = |word: &&Word| !word.head().starts_with(['-', '(', '!']);
        let roots: Vec<Word> = words.iter().take_while(is_path).cloned().collect();
        let mut all = vec![program, Word::literal("-r")];
        match roots.is_empty() {
            true => all.push(Word::literal(".")),
            false => all.extend(roots),
        }
        let level = self.script.commands[at].level + 1;
        self.script.commands.push(Command { words: all, wrapper: Some(at), level, ..Command::default() });
    }

    /// Deleting everything that the last command of a pipeline finds.
    fn delete_piped(&mut self, at: usize, program: Word, range: Range<usize>) {
        let Some(Some(last)) = self.script.commands.get(range).map(<[Command]>::last) else { return };
        if last.name() == Some("find") {
            let words = last.arguments().to_vec();
            self.delete_found(at, program, &words);
        } else if last.name() == Some("git")
            && let [first, flags @ ..] = last.arguments()
            && first.known() == Some("ls-files")
            && flags.iter().all(|flag| matches!(flag.known(), Some("-z" | "-c" | "--cached" | "--full-name")))
        {
            self.delete_roots(at, program, &[]);
        }
    }

    /// `fd . ~ -X rm` deletes all that is in the folder; a pattern that says more finds what was meant.
    fn delete_searched(&mut self, at: usize, program: Word, words: &[Word]) {
        let operands: Vec<&Word> = words.iter().filter(|word| !word.head().starts_with('-')).collect();
        let place = operands.iter().position(|word| matches!(word.known(), Some("." | "" | ".*" | "*")));
        let has_condition = words.iter().any(|word| {
            matches!(word.known(), Some("-e" | "--extension" | "-g" | "--glob" | "-S" | "--changed-within"))
        });
        let is_value = |word: &Word| matches!(word.known(), Some("f" | "d" | "l" | "file" | "directory"));
        if place.is_none() && !has_condition && operands.iter().all(|word| is_value(word)) {
            return self.delete_roots(at, program, &[]);
        }
        if let Some(place) = place {
            let roots: Vec<Word> = operands[place + 1..].iter().map(|word| (*word).clone()).collect();
            // `fd -e log . -X rm`: those of one kind, in this folder.
            if has_condition && roots.is_empty() {
                return;
            }
            self.delete_roots(at, program, &roots);
        }
    }

    /// The command with the names of what was looked for: `find . -name .env -exec cat {} +` reads `.env`. Used to
    /// forbid, never to allow.
    fn run_on_named(&mut self, at: usize, inner: &[Word], mark: Option<&str>, names: &[Word]) {
        let level = self.script.commands[at].level + 1;
        let shows =
            inner.first().and_then(Word::known).is_some_and(|program| shows_content(base_name(program)));
        // What a pattern such as `*.pem` finds matters to programs that show or send it.
        for name in names.iter().filter(|name| shows || !name.has_wildcard() || !name.head().is_empty()) {
            let fill = |word: &Word| if word.known() == mark { name.clone() } else { word.clone() };
            let mut words: Vec<Word> = match mark {
                Some(_) => inner.iter().map(fill).collect(),
                None => inner.to_vec(),
            };
            if mark.is_none() {
                words.push(name.clone());
            }
            if !words.is_empty() && self.spend(words.len() * WORD) {
                self.script.commands.push(Command { words, wrapper: Some(at), level, ..Command::default() });
            }
        }
    }

    /// `fd … -x rm`
    pub(super) fn fd(&mut self, at: usize, words: &[Word]) {
        let runs = |word: &Word| matches!(word.known(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
        if let Some(place) = words.iter().position(runs) {
            let rest = &words[place + 1..];
            let length = rest.iter().position(|word| word.known() == Some(";")).unwrap_or(rest.len());
            let has_mark = rest[..length].iter().any(|word| word.known() == Some("{}"));
            let mark = has_mark.then_some("{}");
            self.run_on_named(at, &rest[..length], mark, &found::names_of_fd(&words[..place]));
            let mut inner: Vec<Word> = rest[..length].iter().map(|word| word.filled("{}")).collect();
            inner.push(Word::unknown());
            self.add_wrapped(at, inner, Vec::new());
            if rest.first().is_some_and(is_remover) {
                self.delete_searched(at, rest[0].clone(), &words[..place]);
            }
        }
    }

    /// `xargs -n1 rm -f`: what it reads is appended.
    pub(super) fn xargs(&mut self, at: usize, row: &Wrapper, words: &[Word]) {
        let from = first_operand(words, row.short, row.long);
        let mark = replaced_mark(words.get(..from).unwrap_or_default());
        let mut inner: Vec<Word> = words.get(from..).unwrap_or_default().to_vec();
        if inner.is_empty() {
            return;
        }
        self.xargs_of_text(at, &inner, mark.as_deref());
        // `xargs -a <(…)`
        let listed = values(words.get(..from).unwrap_or_default(), &["-a", "--arg-file"], row.short);
        let from_list = listed.iter().flat_map(Word::unknowns).find_map(|unknown| match &unknown.from {
            Origin::Process(range) => Some(Origin::Output(range.clone())),
            _ => None,
        });
        let origin = match &self.script.commands[at].input {
            _ if from_list.is_some() => from_list.unwrap_or(Origin::Other),
            Input::Pipe(range) => Origin::Output(range.clone()),
            _ => Origin::Other,
        };
        if inner.first().is_some_and(is_remover)
            && let Origin::Output(range) = &origin
        {
            self.delete_piped(at, inner[0].clone(), range.clone());
        }
        if let Origin::Output(range) = &origin {
            let names = found::names_of_output(&self.script.commands, range.clone());
            self.run_on_named(at, &inner, mark.as_deref(), &names);
        }
        // Each input line is a separate run, so the placeholder is not the whole text.
        let piped = match &origin {
            Origin::Output(range) => Origin::Process(range.clone()),
            _ => Origin::Other,
        };
        match mark {
            Some(mark) => inner = inner.iter().map(|word| word.filled(&mark).coming_from(&piped)).collect(),
            None => inner.push(Word::unknown().coming_from(&origin)),
        }
        self.add_wrapped(at, inner, Vec::new());
    }

    /// What `xargs` runs when its input is known: `echo / | xargs rm -rf`. Used to forbid; how it
    /// splits its input depends on its options, so it is never used to allow.
    fn xargs_of_text(&mut self, at: usize, inner: &[Word], mark: Option<&str>) {
        const MAX_LINES: usize = 8;
        let Some(text) = self.stdin_text(at) else { return };
        let level = self.script.commands[at].level + 1;
        let mut commands = Vec::new();
        match mark {
            Some(mark) => {
                for line in text.split(['\n', '\0']).filter(|line| !line.is_empty()).take(MAX_LINES) {
                    let filled = |word: &Word| match word.known() {
                        Some(text) => Word::literal(text.replace(mark, line)),
                        None => word.clone(),
                    };
                    commands.push(inner.iter().map(filled).collect());
                }
            }
            None => {
                let read = text.split_whitespace().map(Word::literal);
                commands.push(inner.iter().cloned().chain(read).collect());
            }
        }
        for words in commands {
            let words: Vec<Word> = words;
            if self.spend(text.len() + words.len() * WORD) {
                self.script.commands.push(Command { words, wrapper: Some(at), level, ..Command::default() });
            }
        }
    }

    /// `parallel rm ::: a b`; without a command, each item that it reads is one.
    pub(super) fn parallel(&mut self, at: usize, row: &Wrapper, words: &[Word]) {
        let from = first_operand(words, row.short, row.long);
        let rest = words.get(from..).unwrap_or_default();
        let is_source = |word: &Word| word.head().starts_with(":::");
        let length = rest.iter().position(is_source).unwrap_or(rest.len());
        let (command, things) = rest.split_at(length);
        if !command.is_empty() {
            if let Input::Pipe(range) = self.script.commands[at].input.clone() {
                let names = found::names_of_output(&self.script.commands, range.clone());
                let mark = command.iter().any(|word| word.known() == Some("{}")).then_some("{}");
                self.run_on_named(at, command, mark, &names);
                if command.first().is_some_and(is_remover) {
                    self.delete_piped(at, command[0].clone(), range);
                }
            }
            let mut code: Vec<Word> = command.iter().map(|word| word.filled("{}")).collect();
            code.push(Word::unknown());
            self.code(at, &code);
        } else if !things.is_empty() {
            for thing in things.iter().filter(|thing| !is_source(thing)) {
                self.code(at, std::slice::from_ref(thing));
            }
        } else if self.script.commands[at].input != Input::Inherited {
            self.stdin_code(at);
        }
    }

    /// `trap 'code' EXIT`
    pub(super) fn trap(&mut self, at: usize, words: &[Word]) {
        let from = usize::from(words.first().is_some_and(|word| word.known() == Some("--")));
        if let Some(code) = words.get(from).filter(|_| words.len() > from + 1)
            && !matches!(code.known(), Some("-" | "" | "-l" | "-p"))
        {
            self.code(at, std::slice::from_ref(code));
        }
    }

    /// `docker exec box rm x`, `kubectl exec pod -- rm x`, `docker run image sh -c '…'`
    pub(super) fn container(&mut self, at: usize, words: &[Word]) {
        if let Some(dashes) = words.iter().position(|word| word.known() == Some("--")) {
            self.add_wrapped(at, words[dashes + 1..].to_vec(), Vec::new());
        }
        if let Some(place) = words.iter().position(|word| word.known() == Some("exec")) {
            let rest = &words[place + 1..];
            let from = first_operand(
                rest,
                "euwnc",
                &["--env", "--namespace", "--container", "--user", "--workdir", "--env-file", "--index"],
            );
            self.add_wrapped(at, rest.get(from + 1..).unwrap_or_default().to_vec(), Vec::new());
        }
        // `docker run image rm x`, `docker compose run service rm x`
        let shell = words.iter().position(names_shell);
        let run = words.iter().take(12).position(|word| word.known() == Some("run"));
        if let (Some(place), None) = (run, shell) {
            let rest = &words[place + 1..];
            let from = first_operand(rest, "aceflmnpuvwh", RUN_OPTIONS);
            self.add_wrapped(at, rest.get(from + 1..).unwrap_or_default().to_vec(), Vec::new());
        }
        if let Some(place) = shell {
            self.add_wrapped(at, words[place..].to_vec(), Vec::new());
        }
    }
}

/// Options of `docker run` and `docker compose run` whose value is the next word.
const RUN_OPTIONS: &[&str] = &[
    "--add-host",
    "--annotation",
    "--cap-add",
    "--cap-drop",
    "--cidfile",
    "--cpus",
    "--cpuset-cpus",
    "--device",
    "--dns",
    "--entrypoint",
    "--env",
    "--env-file",
    "--expose",
    "--gpus",
    "--group-add",
    "--health-cmd",
    "--hostname",
    "--image",
    "--ip",
    "--ipc",
    "--label",
    "--link",
    "--log-driver",
    "--log-opt",
    "--memory",
    "--mount",
    "--name",
    "--namespace",
    "--net",
    "--network",
    "--overrides",
    "--pid",
    "--platform",
    "--publish",
    "--pull",
    "--restart",
    "--runtime",
    "--security-opt",
    "--shm-size",
    "--stop-signal",
    "--sysctl",
    "--tmpfs",
    "--ulimit",
    "--user",
    "--userns",
    "--volume",
    "--volumes-from",
    "--workdir",
];

/// Programs that show, copy or send the content of files.
fn shows_content(program: &str) -> bool {
    matches!(
        program,
        "cat"
            | "bat"
            | "less"
            | "more"
            | "head"
            | "tail"
            | "base64"
            | "xxd"
            | "od"
            | "strings"
            | "cp"
            | "mv"
            | "tar"
            | "zip"
            | "scp"
            | "rsync"
            | "curl"
            | "wget"
            | "nc"
            | "ncat"
            | "grep"
            | "awk"
            | "sed"
            | "tee"
            | "ln"
            | "gzip"
    )
}

fn is_remover(word: &Word) -> bool {
    word.known().is_some_and(|text| matches!(base_name(text), "rm" | "unlink" | "shred" | "srm" | "rmdir"))
}

/// The placeholder of `xargs -I PLACEHOLDER`.
fn replaced_mark(options: &[Word]) -> Option<String> {
    for (at, word) in options.iter().enumerate() {
        let Some(text) = word.known() else { continue };
        if let Some(mark) = text.strip_prefix("--replace") {
            let mark = mark.trim_start_matches('=');
            return Some(if mark.is_empty() { "{}".to_owned() } else { mark.to_owned() });
        }
        if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))
            && let Some(place) = letters.find(['I', 'i'])
            && letters[..place].bytes().all(|byte| b"0rtpx".contains(&byte))
        {
            let glued = &letters[place + 1..];
            if letters[place..].starts_with('i') {
                return Some(if glued.is_empty() { "{}".to_owned() } else { glued.to_owned() });
            }
            return match glued {
                "" => options.get(at + 1)?.known().map(str::to_owned),
                glued => Some(glued.to_owned()),
            };
        }
    }
    None
}
