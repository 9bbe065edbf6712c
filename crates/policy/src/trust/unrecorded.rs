//! Files that a recorded script runs and that are not recorded.

use std::path::{Path, PathBuf};

use crosier_builtins::shell::{Script, base_name};

use super::collect::{self, Collected};
use super::stamp;
use crate::request::Homes;

/// Files of the project that recorded scripts source, load or run, and that are not recorded, as pairs of script and
/// file. Nothing is run, and paths that a script computes at run time are not seen.
#[must_use]
pub fn unrecorded(folder: &Path, homes: &Homes) -> Vec<(PathBuf, PathBuf)> {
    let Ok(collected) = collect::collect(folder, homes) else { return Vec::new() };
    let root = collect::root_of(folder, homes.home.as_deref());
    let mut found = Vec::new();
    for file in &collected.files {
        let path = folder.join(&file.path);
        let Some(text) = collected.contents.get(&file.path).and_then(|bytes| std::str::from_utf8(bytes).ok())
        else {
            continue;
        };
        let (named, ends): (Vec<String>, &[&str]) = match language(&path, text) {
            Some(Language::Shell) => (by_shell(text), &[""]),
            Some(Language::Python) => (by_literals(text, &[".py", ".sh"]), &[""]),
            Some(Language::Node) => (by_literals(text, &[".sh"]), NODE_ENDS),
            None => continue,
        };
        for name in named {
            // A hook's script runs in the folder of its configuration.
            let places = [Some(folder), path.parent()].into_iter().flatten();
            let mut targets =
                places.flat_map(|place| ends.iter().map(|end| place.join(format!("{name}{end}"))));
            let Some(target) = targets.find(|target| target.is_file()) else { continue };
            let target = collect::clean(&target);
            if target.starts_with(&root)
                && target != path
                && !is_recorded(&collected, folder, &target)
                && !found.contains(&(path.clone(), target.clone()))
            {
                found.push((path.clone(), target));
            }
        }
    }
    found
}

/// What a script is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Shell,
    Python,
    Node,
}

/// Suffixes that Node tries when it loads a module.
const NODE_ENDS: &[&str] = &["", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js"];

fn language(path: &Path, text: &str) -> Option<Language> {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    match end {
        "sh" | "bash" => return Some(Language::Shell),
        "py" => return Some(Language::Python),
        "js" | "mjs" | "cjs" | "ts" => return Some(Language::Node),
        _ => {}
    }
    let line = text.lines().next().and_then(|line| line.strip_prefix("#!"))?;
    let mut words =
        line.split_whitespace().map(base_name).filter(|word| *word != "env" && !word.starts_with('-'));
    let program = words.next()?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match program {
        "python" => Some(Language::Python),
        "node" | "bun" | "deno" | "tsx" => Some(Language::Node),
        shell if shell.ends_with("sh") => Some(Language::Shell),
        _ => None,
    }
}

/// The files that the commands of a shell script source or run.
fn by_shell(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for command in &Script::parse(text).commands {
        let words: Vec<&str> = command.words.iter().filter_map(|word| word.known()).collect();
        let named = match words.as_slice() {
            ["." | "source", file, ..] => Some(*file),
            [program, file, ..]
                if matches!(
                    base_name(program),
                    "sh" | "bash" | "dash" | "zsh" | "python3" | "python" | "node"
                ) =>
            {
                Some(*file)
            }
            [program, ..] if program.contains('/') => Some(*program),
            _ => None,
        };
        found.extend(named.filter(|named| !named.starts_with('-')).map(str::to_owned));
    }
    found
}

/// String literals that look like files to load or run: they begin with `./` or `../`, or end like a script.
fn by_literals(text: &str, ends: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(at) = rest.find(['"', '\'', '`']) {
            let (quote, after) = rest[at..].split_at(1);
            let Some(end) = after.find(quote) else { break };
            let literal = &after[..end];
            let is_file = literal.starts_with("./")
                || literal.starts_with("../")
                || ends.iter().any(|end| literal.len() > end.len() && literal.ends_with(end));
            if is_file && !literal.contains(char::is_whitespace) {
                found.push(literal.to_owned());
            }
            rest = &after[end + 1..];
        }
    }
    found
}

fn is_recorded(collected: &Collected, folder: &Path, target: &Path) -> bool {
    let is_it = |path: &Path| {
        path == target
            || stamp::find(path).ok().flatten().map(|found| found.stamp)
                == stamp::find(target).ok().flatten().map(|found| found.stamp)
    };
    collected.files.iter().any(|file| is_it(&collect::clean(&folder.join(&file.path))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_known_by_name_and_by_first_line() {
        for (path, text, language_of) in [
            ("a.sh", "", Some(Language::Shell)),
            ("a", "#!/bin/bash -e", Some(Language::Shell)),
            ("a", "#!/usr/bin/env -S python3.12 -u", Some(Language::Python)),
            ("a", "#!/usr/bin/node", Some(Language::Node)),
            ("a", "#!/usr/bin/perl", None),
            ("a.txt", "words", None),
        ] {
            assert_eq!(language(Path::new(path), text), language_of, "{path} {text}");
        }
    }

    #[test]
    fn texts_that_look_like_files_are_found() {
        let python = "run(['./tool', 'x'])\nopen('data.txt')\nrunpy.run_path(\"lib/more.py\")  # it's\n";
        assert_eq!(by_literals(python, &[".py"]), ["./tool", "lib/more.py"]);
        assert_eq!(by_literals("import a from '../a'; require(`./b`)", &[]), ["../a", "./b"]);
    }
}
