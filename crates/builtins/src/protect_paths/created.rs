//! What a command puts into a folder: `cp -r x/.claude ~` writes `~/.claude` and what is below it; what an archive holds is
//! not known.

use std::borrow::Cow;
use std::path::Path;

use super::holder::wiring_names;
use super::protected::{Objection, Protected};
use crate::guard::Ruling;
use crate::path::{Places, Resolver};
use crate::shell::{Command, Effect, FileUse, Word, base_name, git_subcommand};
use crate::token::{self, Token};
use crate::tool::Access;

/// Programs that write files of names which the line does not have. What `tar` and `unzip` do is known better.
const EXTRACTORS: [&str; 10] = ["7z", "7za", "7zr", "7zz", "unrar", "unar", "pax", "cpio", "patch", "jar"];

/// What arrives in a folder.
enum Arrival {
    /// A file or folder of this name.
    Named(String),
    /// Files with names that are partly known.
    Like(Vec<Token>),
    /// Files of any names.
    Any,
}

/// What a command puts where.
struct Delivery<'a> {
    folder: Cow<'a, Word>,
    /// Whether the target is certainly a folder, and not a file that is written.
    is_folder: bool,
    arrivals: Vec<Arrival>,
}

impl Protected {
    /// Files that a command creates in a folder: `cp a/settings.json .claude/` writes `.claude/settings.json`.
    pub(super) fn judge_created_files(
        &self,
        command: &Command,
        files: &[FileUse<'_>],
        folders: &[&Path],
        resolver: &Resolver,
    ) -> Option<Ruling> {
        let mut found = None;
        for delivery in deliveries(command, files) {
            let shown = super::shell::known_path(&delivery.folder)?;
            let base_folders = self.base_folders(folders);
            for places in base_folders.places(&shown) {
                match self.judge_delivery(command, &delivery, &shown, places, resolver) {
                    Some(ruling @ Ruling::Deny(_)) => return Some(ruling),
                    ruling => found = ruling.or(found),
                }
            }
        }
        found
    }

    fn judge_delivery(
        &self,
        command: &Command,
        delivery: &Delivery<'_>,
        target: &str,
        places: Places<'_>,
        resolver: &Resolver,
    ) -> Option<Ruling> {
        let into = resolver.resolve(places, target);
        let agents = self.objection_to_removal(target, &into);
        if matches!(command.name(), Some("ln" | "gln"))
            && let Some(objection) = agents
        {
            return Some(objection.ruling());
        }
        let is_holder = self.is_holder(&into);
        let is_folder = delivery.is_folder
            || is_holder
            || target.ends_with('/')
            || matches!(target, "." | "..")
            || agents.is_some()
            || into.real.is_dir();
        if !is_folder {
            return None;
        }
        let unseen = |what: &str| {
            Ruling::Ask(format!(
                "`{}` puts {what} into `{target}`, which holds files that call Crosier; should it?",
                command.show()
            ))
        };
        let mut found = None;
        // What a patch or an archive changes there, nobody sees.
        if command.name().is_some_and(|name| EXTRACTORS.contains(&name))
            && (into.lexical.parent().is_none() || self.question_about_write(target, &into).is_some())
        {
            return Some(Ruling::Ask(format!(
                "`{}` changes files of the system; should it?",
                command.show()
            )));
        }
        for arrival in &delivery.arrivals {
            match arrival {
                Arrival::Any if is_holder => found = Some(unseen("files of unknown names")),
                Arrival::Any => {}
                Arrival::Like(name) if is_holder => {
                    let is_one = |name: &'static str| {
                        let path = format!("{}/{name}", target.trim_end_matches('/'));
                        let arrived = resolver.resolve(places, &path);
                        self.is_holder(&arrived)
                            || matches!(
                                self.objection(&path, Access::Write, &arrived),
                                Some(Objection::Fixed(_))
                            )
                    };
                    if let Some(name) = wiring_names(name).find(|name| is_one(name)) {
                        found = Some(unseen(&format!("files like `{name}`")));
                    }
                }
                Arrival::Like(_) => {}
                Arrival::Named(name) => {
                    let path = format!("{}/{name}", target.trim_end_matches('/'));
                    let arrived = resolver.resolve(places, &path);
                    let objection = self.objection(&path, Access::Write, &arrived);
                    if let Some(objection @ Objection::Fixed(_)) = objection {
                        return Some(objection.ruling());
                    }
                    if let Some(objection) = self.objection_to_removal(&path, &arrived) {
                        // In a home folder it is merged with what every project uses.
                        if is_holder {
                            return Some(objection.ruling());
                        }
                        found = Some(Ruling::Ask(objection.reason()));
                    } else if self.is_holder(&arrived) {
                        found = Some(unseen(&format!("`{name}`")));
                    }
                }
            }
        }
        found
    }
}

/// Whether a command writes into a folder that none of its words names: `tar x`, `git checkout .`.
pub(super) fn has_hidden_target(command: &Command) -> bool {
    matches!(
        command.name(),
        Some("tar" | "gtar" | "bsdtar" | "cpio" | "pax" | "unzip" | "jar" | "git" | "wget" | "curl")
    )
}

fn deliveries<'a>(command: &'a Command, files: &[FileUse<'a>]) -> Vec<Delivery<'a>> {
    let here = || Cow::Owned(Word::literal("."));
    let written = || files.iter().rfind(|file| file.effect == Effect::Write).map(|file| file.path.clone());
    let unknown = |folder| Delivery { folder, is_folder: true, arrivals: vec![Arrival::Any] };
    let Some(name) = command.name() else { return Vec::new() };
    match name {
        "cp" | "gcp" | "mv" | "gmv" | "ln" | "gln" | "install" | "ginstall" | "rsync" | "scp" | "ditto" => {
            written().map(|folder| copied(command, name, folder, files)).into_iter().collect()
        }
        "tar" | "gtar" | "bsdtar" => extracted(command, files),
        "unzip" => {
            let lists = flags(command).any(|flag| matches!(flag, 'l' | 'p' | 't' | 'Z' | 'v'));
            if lists {
                return Vec::new();
            }
            let archive = files.iter().find(|file| file.effect == Effect::Read);
            let folder = written();
            let is_member = |word: &&Word| {
                let shown = word.show();
                !shown.starts_with('-')
                    && archive.is_none_or(|archive| archive.path.show() != shown)
                    && folder.as_ref().is_none_or(|folder| folder.show() != shown)
            };
            let members = command.arguments().iter().filter(is_member).map(arrival_of_member).collect();
            vec![Delivery { folder: folder.unwrap_or_else(here), is_folder: true, arrivals: or_any(members) }]
        }
        name if EXTRACTORS.contains(&name) => {
            let extracts = match name {
                "cpio" => flags(command).any(|flag| flag == 'i'),
                "pax" => flags(command).any(|flag| flag == 'r'),
                "jar" => command.arguments().first().is_some_and(|mode| mode.head().contains('x')),
                "unar" | "patch" => true,
                _ => matches!(command.arguments().first().and_then(Word::known), Some("x" | "e")),
            };
            let option = |word: &'a Word| {
                let head = word.head();
                let letter = ["-o", "-d", "-D", "-C"].into_iter().find(|option| head.starts_with(option))?;
                (head.len() > letter.len()).then(|| Cow::Owned(word.after(letter.len())))
            };
            let words = command.arguments();
            let next = words.windows(2).find_map(|pair| {
                matches!(pair[0].known(), Some("-o" | "-d" | "-D" | "-C")).then(|| Cow::Borrowed(&pair[1]))
            });
            // `unrar x a.rar FOLDER`
            let last = words.last().filter(|word| name == "unrar" && word.show().ends_with('/'));
            let folder = words.iter().find_map(option).or(next).or(last.map(Cow::Borrowed));
            // A patch of the project is judged by what it names; only elsewhere nobody sees it.
            extracts.then(|| unknown(folder.unwrap_or_else(here))).into_iter().collect()
        }
        "git" => checked_out(command).into_iter().collect(),
        "wget" | "curl" => downloaded(command).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn or_any(arrivals: Vec<Arrival>) -> Vec<Arrival> {
    if arrivals.is_empty() { vec![Arrival::Any] } else { arrivals }
}

/// The letters of a command's short options.
fn flags(command: &Command) -> impl Iterator<Item = char> {
    let short = |word: &'_ Word| {
        let head = word.head();
        head.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default().to_owned()
    };
    command.arguments().iter().map(short).collect::<String>().chars().collect::<Vec<_>>().into_iter()
}

/// What `cp`, `mv`, `ln` and the like create in their target.
fn copied<'a>(command: &Command, name: &str, folder: Cow<'a, Word>, files: &[FileUse<'_>]) -> Delivery<'a> {
    let is_onto = command.arguments().iter().any(|word| match word.known() {
        Some("--no-target-directory") => true,
        Some(text) => text.starts_with('-') && !text.starts_with("--") && text.contains('T'),
        None => false,
    });
    if is_onto && !matches!(name, "rsync" | "scp" | "ditto") {
        return Delivery { folder, is_folder: false, arrivals: vec![Arrival::Any] };
    }
    let shown = folder.show();
    let mut sources: Vec<&Word> =
        files.iter().filter(|file| file.effect != Effect::Write).map(|file| &*file.path).collect();
    // What comes from another machine is not a file of this one.
    if matches!(name, "rsync" | "scp") {
        let is_remote = |word: &&Word| {
            let text = word.show();
            !text.starts_with('-') && text.contains(':') && *text != *shown
        };
        sources.extend(command.arguments().iter().filter(is_remote));
    }
    let copies_content = matches!(name, "rsync" | "ditto");
    let arrival = |source: &&Word| {
        let text = source.show();
        let text = text.rsplit_once(':').map_or(&*text, |(_, path)| path);
        let trimmed = text.trim_end_matches('/');
        if (copies_content && trimmed.len() < text.len()) || matches!(base_name(trimmed), "" | "." | "..") {
            return Arrival::Any;
        }
        match source.known() {
            Some(_) => Arrival::Named(base_name(trimmed).to_owned()),
            None => Arrival::Like(token::base_name(&without_end(token::of_word(source))).to_vec()),
        }
    };
    let arrivals = sources.iter().map(arrival).collect();
    drop(shown);
    Delivery { folder, is_folder: false, arrivals: or_any(arrivals) }
}

/// The tokens without slashes at their end.
fn without_end(mut tokens: Vec<Token>) -> Vec<Token> {
    while tokens.last() == Some(&Token::Char('/')) {
        tokens.pop();
    }
    tokens
}

fn arrival_of_member(word: &Word) -> Arrival {
    match word.known().filter(|text| !text.contains(['*', '?', '['])) {
        Some(text) => Arrival::Named(text.to_owned()),
        None => Arrival::Any,
    }
}

/// What `tar x` creates, and in which folders.
fn extracted<'a>(command: &'a Command, files: &[FileUse<'a>]) -> Vec<Delivery<'a>> {
    const CHANGES: [&str; 4] = ["--transform", "--xform", "--strip-components", "--strip"];
    const LONG_VALUES: [&str; 9] = [
        "--transform",
        "--xform",
        "--strip-components",
        "--strip",
        "--exclude",
        "--exclude-from",
        "--files-from",
        "--use-compress-program",
        "--owner",
    ];
    let words = command.arguments();
    let mode = words.first().map(Word::head).unwrap_or_default();
    let is_bare = !mode.is_empty() && mode.bytes().all(|byte| byte.is_ascii_alphabetic());
    let bare = if is_bare { mode } else { "" };
    let extracts = bare.contains('x')
        || flags(command).any(|flag| flag == 'x')
        || words.iter().any(|word| matches!(word.known(), Some("--extract" | "--get")));
    if !extracts {
        return Vec::new();
    }
    let has_name = |names: &[&str], head: &str| names.contains(&head.split('=').next().unwrap_or_default());
    let is_changed = words.iter().any(|word| has_name(&CHANGES, word.head()) || word.head() == "-s");
    let used = |shown: &str| files.iter().any(|file| file.path.show() == shown);
    let mut members = Vec::new();
    for (at, word) in words.iter().enumerate().skip(usize::from(is_bare)) {
        let shown = word.show();
        let before = at.checked_sub(1).and_then(|at| words.get(at)).map(Word::head).unwrap_or_default();
        let is_value = (!before.contains('=') && LONG_VALUES.contains(&before))
            || matches!(before, "-I" | "-T" | "-X" | "-b" | "-g" | "-H" | "-K" | "-N" | "-V");
        if !shown.starts_with('-') && !used(&shown) && !is_value {
            members.push(arrival_of_member(word));
        }
    }
    let arrivals = || match is_changed {
        true => vec![Arrival::Any],
        false => {
            let copy = |arrival: &Arrival| match arrival {
                Arrival::Named(name) => Arrival::Named(name.clone()),
                _ => Arrival::Any,
            };
            or_any(members.iter().map(copy).collect())
        }
    };
    let folders = files.iter().filter(|file| file.effect == Effect::Write);
    let mut all: Vec<Delivery<'a>> = folders
        .map(|file| Delivery { folder: file.path.clone(), is_folder: true, arrivals: arrivals() })
        .collect();
    if all.is_empty() {
        let folder = Cow::Owned(Word::literal("."));
        all.push(Delivery { folder, is_folder: true, arrivals: arrivals() });
    }
    all
}

/// What git writes into its work tree: `git --work-tree=$HOME checkout -f`.
fn checked_out(command: &Command) -> Option<Delivery<'_>> {
    const WRITES: [&str; 15] = [
        "checkout",
        "checkout-index",
        "restore",
        "reset",
        "stash",
        "switch",
        "merge",
        "pull",
        "rebase",
        "revert",
        "cherry-pick",
        "read-tree",
        "apply",
        "am",
        "clone",
    ];
    let words = command.arguments();
    let place = git_subcommand(words);
    let verb = words.get(place)?.known()?;
    if !WRITES.contains(&verb) {
        return None;
    }
    let before = words.get(..place).unwrap_or_default();
    let glued = |word: &'_ Word| {
        word.head().starts_with("--work-tree=").then(|| Cow::Owned(word.after("--work-tree=".len())))
    };
    let next = |pair: &[Word]| matches!(pair[0].known(), Some("--work-tree" | "-C")).then(|| pair[1].clone());
    let variable = command.assignments.iter().find(|assignment| assignment.name == "GIT_WORK_TREE");
    let folder = before
        .iter()
        .find_map(glued)
        .or_else(|| before.windows(2).find_map(next).map(Cow::Owned))
        .or_else(|| variable.map(|assignment| Cow::Borrowed(&assignment.value)));
    let rest = words.get(place + 1..).unwrap_or_default();
    let operands: Vec<&Word> = rest.iter().filter(|word| !word.head().starts_with('-')).collect();
    if verb == "clone" {
        let (url, target) = (operands.first()?, operands.get(1));
        return Some(match target {
            Some(target) => {
                Delivery { folder: Cow::Borrowed(*target), is_folder: true, arrivals: vec![Arrival::Any] }
            }
            None => {
                let url = url.show();
                let name = base_name(url.trim_end_matches('/')).trim_end_matches(".git").to_owned();
                let folder = folder.unwrap_or_else(|| Cow::Owned(Word::literal(".")));
                Delivery { folder, is_folder: true, arrivals: vec![Arrival::Named(name)] }
            }
        });
    }
    let dashes = rest.iter().position(|word| word.known() == Some("--"));
    let named = dashes.and_then(|at| rest.get(at + 1..)).unwrap_or_default();
    let arrivals = or_any(named.iter().map(arrival_of_member).collect());
    let folder = folder.unwrap_or_else(|| Cow::Owned(Word::literal(".")));
    Some(Delivery { folder, is_folder: true, arrivals })
}

/// `wget -P FOLDER URL`, `curl -O --output-dir FOLDER URL`
fn downloaded(command: &Command) -> Option<Delivery<'_>> {
    let words = command.arguments();
    let keeps_name = command.name() == Some("wget")
        || flags(command).any(|flag| flag == 'O')
        || words.iter().any(|word| matches!(word.known(), Some("--remote-name" | "--remote-name-all")));
    if !keeps_name {
        return None;
    }
    let is_option = |word: &Word| matches!(word.known(), Some("-P" | "--directory-prefix" | "--output-dir"));
    let next = words.windows(2).find(|pair| is_option(&pair[0])).map(|pair| Cow::Borrowed(&pair[1]));
    let name = |word: &Word| {
        let text = word.show();
        let (_, rest) = text.split_once("://")?;
        let path = rest.split(['?', '#']).next().unwrap_or(rest);
        let name = base_name(path);
        (!name.is_empty() && path.contains('/')).then(|| Arrival::Named(name.to_owned()))
    };
    let arrivals: Vec<Arrival> = words.iter().filter_map(name).collect();
    let folder = next.unwrap_or_else(|| Cow::Owned(Word::literal(".")));
    Some(Delivery { folder, is_folder: true, arrivals })
}
