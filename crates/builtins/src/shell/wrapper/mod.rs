//! Commands that run other commands: `sudo rm`, `find -exec`, `xargs`, `sh -c '…'`, `eval`, `ssh host '…'`.
//!
//! Input: the commands of a line. The commands that they run are added after them. When it cannot be known
//! what such a command would run (a variable as a program, code from a pipe), that is a doubt.

mod code;
mod equivalent;
mod file;
mod fish;
mod found;
mod git;
mod language;
mod link;
mod list;
mod option;
mod rename;
mod runner;
mod table;
mod variable;

pub(crate) use code::only_checks;
pub(in crate::shell) use file::{WrittenFile, file_key};
pub(crate) use found::names_of_output;
pub(crate) use git::subcommand as git_subcommand;
pub(crate) use language::is_interpreter;
pub(in crate::shell) use option::first_operand;
pub(in crate::shell) use rename::Meaning;

use self::option::values;
use self::table::{Style, Weight, Wrapper};
use super::model::{Assignment, Command, Execution};
use super::parser::Parser;
use super::variables::as_value;
use super::word::{Origin, Word, assignment};

/// The budget that copying a word costs, in bytes.
const WORD: usize = 64;

/// The maximum number of positions at which a command is assumed to begin, for programs with an unknown command line.
const MAX_PLACES: usize = 16;

/// Longer chains than this (`sudo env nice …`) are not followed.
const MAX_LEVELS: u8 = 24;

impl Parser {
    /// Inspects every command, including those that it adds.
    pub(super) fn look_inside(&mut self) {
        let mut at = 0;
        while at < self.script.commands.len() {
            let certain = self.script.commands[at].certain;
            let doubts = self.script.doubts.len();
            self.inspect(at);
            if !certain {
                self.script.doubts.truncate(doubts);
            }
            at += 1;
        }
    }

    fn inspect(&mut self, at: usize) {
        self.inspect_values(at);
        self.note_files(at);
        if !self.files.is_empty() || self.reads_pipe(at) {
            self.note_compiled(at);
        }
        self.note_links(at);
        self.follow_links(at);
        let command = &self.script.commands[at];
        let Some(program) = command.words.first() else { return };
        let Some(text) = program.known() else { return self.inspect_unknown(at) };
        if !text.is_ascii() {
            let why = format!("the program `{}` is not written in plain letters", shown(text));
            return self.doubt(why);
        }
        if let Some(other) = text.strip_prefix('=').filter(|other| !other.is_empty()) {
            // In zsh `=rm` is the path of rm.
            let mut words = vec![Word::literal(other)];
            words.extend_from_slice(command.arguments());
            self.doubt("its program begins with =");
            return self.add_wrapped(at, words, Vec::new());
        }
        if command.level > MAX_LEVELS {
            return self.doubt("commands run other commands too many levels deep");
        }
        self.renamed(at);
        let command = &self.script.commands[at];
        if text_is_file(command) && !self.files.is_empty() {
            let (file, arguments) =
                (command.program().unwrap_or_default().to_owned(), command.arguments().to_vec());
            self.run_written(at, &file, &arguments);
        }
        self.run_from_path(at);
        let command = &self.script.commands[at];
        let name = command.name().unwrap_or_default();
        if let Some(row) = table::find(name) {
            self.open(at, row);
        }
        self.add_equivalents(at);
        self.languages(at);
        self.installs_written(at);
        self.runs_project(at);
    }

    /// An unknown program; it may expand to nothing, and then the next word is the program.
    fn inspect_unknown(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let program = &command.words[0];
        let why = format!("the program `{}` cannot be known", shown(&program.show()));
        let (splits, level, count) = (program.may_split(), command.level, command.words.len());
        let cost = count * WORD;
        let is_shell = program.pieces().len() == 1
            && program.unknowns().any(|unknown| {
                matches!(&unknown.from, Origin::Variable(name) if matches!(&**name, "SHELL" | "BASH" | "0"))
            });
        self.unknown(why);
        // `curl … | $SHELL`
        if is_shell && (count > 1 || self.reads_pipe(at)) && level <= MAX_LEVELS && self.spend(cost) {
            let mut words = vec![Word::literal("sh")];
            words.extend_from_slice(self.script.commands[at].arguments());
            return self.add_wrapped(at, words, Vec::new());
        }
        if splits && count > 1 && level <= MAX_LEVELS && self.spend(cost) {
            let rest = self.script.commands[at].words[1..].to_vec();
            let words = Command { words: rest, wrapper: Some(at), level: level + 1, ..Command::default() };
            self.script.commands.push(words);
        }
    }

    /// Finds the commands that a wrapper runs.
    fn open(&mut self, at: usize, row: &'static Wrapper) {
        let command = &mut self.script.commands[at];
        let cost = command.words.len() * WORD;
        // Its words are not needed there meanwhile, but the program is.
        let words = command.words.split_off(1);
        if self.spend(cost) {
            self.open_words(at, row, &words);
        }
        self.script.commands[at].words.extend(words);
    }

    fn open_words(&mut self, at: usize, row: &'static Wrapper, words: &[Word]) {
        match row.style {
            Style::Words(operands) => self.add_wrapped_rest(at, row, words, operands),
            Style::Code(operands) => {
                if !row.code.is_empty() {
                    self.option_code(at, row, words);
                }
                let mut from = first_operand(words, row.short, row.long).saturating_add(operands);
                // `ssh host -- cmd`
                from += usize::from(
                    operands > 0 && words.get(from).is_some_and(|word| word.known() == Some("--")),
                );
                self.code(at, words.get(from..).unwrap_or_default());
            }
            Style::Assigned => {
                self.assigned(at, row, words);
                self.root_shell(at, words);
            }
            Style::Shell => self.shell(at, row, words),
            Style::Options => {
                self.option_code(at, row, words);
            }
            Style::OptionsOrWords(operands) => {
                self.option_code(at, row, words);
                self.add_wrapped_rest(at, row, words, operands);
            }
            Style::Stdin => self.stdin_code(at),
            Style::Command => {
                let asks = |word: &Word| matches!(word.known(), Some("-v" | "-V" | "-pv" | "-pV"));
                if !words.first().is_some_and(asks) {
                    self.add_wrapped_rest(at, row, words, 0);
                }
            }
            Style::Container => self.container(at, words),
            Style::Find => self.find(at, words),
            Style::Fd => self.fd(at, words),
            Style::Xargs => self.xargs(at, row, words),
            Style::Parallel => self.parallel(at, row, words),
            Style::Trap => self.trap(at, words),
            Style::Alias => {
                for word in words {
                    if let Some(length) = assignment(word.head()) {
                        let name = word.head()[..length].trim_end_matches('=').to_owned();
                        let first = self.script.commands.len();
                        self.code(at, &[word.after(length)]);
                        let meaning = self.script.commands.get(first).map(|command| command.words.clone());
                        self.names.extend(meaning.map(|words| (name, Meaning::Words(words))));
                    }
                }
            }
            Style::Source => self.source(at, words),
            Style::Hash => {
                // `hash -p /bin/rm ls`: from now on `ls` is rm.
                if let [flag, path, name, ..] = words
                    && flag.known() == Some("-p")
                {
                    self.names.insert(name.show().into_owned(), Meaning::Words(vec![path.clone()]));
                    self.unknown("it changes what a name runs");
                    self.add_wrapped(at, vec![path.clone(), Word::unknown()], Vec::new());
                }
            }
            Style::Somewhere => {
                self.option_values(at, row, words);
                self.somewhere(at, words);
            }
            Style::Verb => {
                // `npm run x` runs a script of the project, and not a program x.
                let own_scripts = matches!(
                    self.script.commands[at].name(),
                    Some(
                        "npm"
                            | "pnpm"
                            | "yarn"
                            | "bun"
                            | "turbo"
                            | "nx"
                            | "lerna"
                            | "rush"
                            | "hatch"
                            | "pdm"
                            | "devbox"
                    )
                );
                let runs = |word: &Word| match word.known() {
                    Some("exec" | "x" | "dlx") => true,
                    Some("run" | "shell" | "develop" | "record" | "stat" | "--") => !own_scripts,
                    _ => false,
                };
                if let Some(place) = words.iter().position(runs) {
                    self.option_values(at, row, words);
                    self.somewhere(at, &words[place + 1..]);
                }
            }
            Style::First => {
                self.option_values(at, row, words);
                let from = first_operand(words, row.short, row.long);
                let level = self.script.commands[at].level + 1;
                let words = equivalent::unversioned(words.get(from..).unwrap_or_default());
                if !words.is_empty() {
                    self.script.commands.push(Command {
                        words,
                        wrapper: Some(at),
                        level,
                        ..Command::default()
                    });
                }
            }
            Style::Git => self.git(at, words),
            Style::Behind => {
                if let Some(dashes) = words.iter().position(|word| word.known() == Some("--")) {
                    self.add_wrapped(at, words[dashes + 1..].to_vec(), Vec::new());
                }
            }
        }
    }

    /// A command begins somewhere among its words, or one of them is code: used to forbid, never to allow.
    fn somewhere(&mut self, at: usize, words: &[Word]) {
        let level = self.script.commands[at].level + 1;
        for from in 0..words.len().min(MAX_PLACES) {
            let Some(text) = words[from].known().filter(|text| !text.starts_with('-')) else { continue };
            if text.contains([' ', ';']) {
                self.perhaps_code(at, &words[from]);
            } else if self.spend((words.len() - from) * WORD) {
                // `--exec /bin/rm -- -rf /`: the `--` belongs to the wrapper.
                let is_own = |word: &&Word| word.known() != Some("--");
                let words: Vec<Word> = words[from..].iter().filter(is_own).cloned().collect();
                let words = equivalent::unversioned(&words);
                self.script.commands.push(Command { words, wrapper: Some(at), level, ..Command::default() });
            }
        }
    }

    /// Options whose value may be code.
    fn option_values(&mut self, at: usize, row: &Wrapper, words: &[Word]) {
        for value in values(words, row.code, row.short) {
            self.perhaps_code(at, &value);
        }
    }

    /// Adds the words after options and operands as a command.
    fn add_wrapped_rest(&mut self, at: usize, row: &Wrapper, words: &[Word], operands: usize) {
        let from = first_operand(words, row.short, row.long).saturating_add(operands);
        self.add_wrapped_weighed(at, row.weight, words.get(from..).unwrap_or_default().to_vec(), Vec::new());
    }

    /// `sudo` and `env`: assignments may precede the command.
    fn assigned(&mut self, at: usize, row: &Wrapper, words: &[Word]) {
        if let [code, ..] = values(words, row.code, row.short).as_slice() {
            return self.split_code(at, code, words);
        }
        let mut from = first_operand(words, row.short, row.long);
        if words.get(from).is_some_and(|word| word.known() == Some("-")) {
            from += 1;
        }
        let mut assignments = Vec::new();
        while let Some(word) = words.get(from) {
            // `BASH_FUNC_ls%%=…` is a variable for `env`, though not for a shell.
            let strange = || word.head().starts_with("BASH_FUNC_").then(|| word.head().find('='))?;
            let length = assignment(word.head()).or_else(|| strange().map(|at| at + 1));
            let Some(length) = length else { break };
            let name = word.head()[..length].trim_end_matches(['=', '+']).to_owned();
            assignments.push(Assignment { name, value: word.after(length) });
            from += 1;
        }
        self.add_wrapped_weighed(at, row.weight, words.get(from..).unwrap_or_default().to_vec(), assignments);
    }

    /// `sudo -s <<< CODE`, `sudo -i`, `su <<< CODE`: a shell that reads its input.
    fn root_shell(&mut self, at: usize, words: &[Word]) {
        let is_flag =
            |word: &Word| matches!(word.known(), Some("-s" | "-i" | "--shell" | "--login" | "-si" | "-is"));
        if words.iter().any(is_flag) {
            self.stdin_code(at);
            let rest =
                words.iter().skip_while(|word| word.head().starts_with('-')).cloned().collect::<Vec<_>>();
            if !rest.is_empty() {
                self.code(at, &rest);
            }
        }
    }

    fn add_wrapped_weighed(
        &mut self,
        at: usize,
        weight: Weight,
        words: Vec<Word>,
        assignments: Vec<Assignment>,
    ) {
        if words.is_empty() && assignments.is_empty() {
            return;
        }
        if weight == Weight::Transparent {
            self.script.commands[at].transparent = !words.is_empty();
        }
        self.add_wrapped(at, words, assignments);
    }

    /// Adds a command that the one at `at` runs.
    fn add_wrapped(&mut self, at: usize, words: Vec<Word>, assignments: Vec<Assignment>) {
        if words.is_empty() && assignments.is_empty() {
            return;
        }
        let wrapper = &self.script.commands[at];
        let (input, certain, level) = (wrapper.input.clone(), wrapper.certain, wrapper.level + 1);
        let execution = Execution { is_recursive: false, ..wrapper.execution };
        let mut all = if wrapper.transparent { wrapper.assignments.clone() } else { Vec::new() };
        let mut variables = wrapper.variables.clone();
        for Assignment { name, value } in &assignments {
            variables.set(name, as_value(value.clone()));
        }
        all.extend(assignments);
        self.script.commands.push(Command {
            words,
            variables,
            assignments: all,
            input,
            wrapper: Some(at),
            certain,
            level,
            execution,
            ..Command::default()
        });
    }
}

/// Whether a program runs other commands.
pub(crate) fn is_wrapper(name: &str) -> bool {
    table::find(name).is_some_and(|row| {
        !matches!(
            row.style,
            Style::Git | Style::Options | Style::Behind | Style::Verb | Style::First | Style::Container
        )
    })
}

/// Whether the program is named by a path.
fn text_is_file(command: &Command) -> bool {
    command.program().is_some_and(|program| program.contains('/'))
}

fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(40).collect()
}
