//! Reads commands: a shell line, a list of words, or a file.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use crosier_protocol::reply::Output;

use super::hook::Keys;
use super::lint;
use super::loader::LoadContext;
use super::tree::{Node, Value};
use super::value::{Reader, TimeUnit};
use crate::registry::{CommandSpec, Cwd, DEFAULT_GRACE, Handler, Program};

pub(super) fn command(
    reader: &mut Reader<'_>,
    context: &LoadContext<'_>,
    keys: &Keys<'_>,
) -> Option<Handler> {
    let program = program(reader, context, keys)?;
    let node = ["command", "argv", "handler"].into_iter().find_map(|key| keys.get(key));
    lint::program(reader, context, &program, node.map_or(keys.span, |node| node.span));
    let cwd = self::cwd(reader, context, keys)?;
    let words = [("reply", Output::Reply), ("text", Output::Text)];
    let output = keys.get("output").and_then(|node| reader.word("output", node, &words)).unwrap_or_default();
    let grace = keys.get("grace").and_then(|node| reader.duration("grace", node, TimeUnit::Seconds));
    Some(Handler::Command(Arc::new(CommandSpec {
        program,
        cwd,
        project_dir: context.folder.to_owned(),
        env: keys.get("env").map(|node| env(reader, node)).unwrap_or_default(),
        env_pass: keys.get("env_pass").map(|node| reader.texts("env_pass", node)).unwrap_or_default(),
        output,
        grace: grace.unwrap_or(DEFAULT_GRACE),
    })))
}

/// The folder that the hook runs in; by default the configuration's folder.
pub(super) fn cwd(reader: &mut Reader<'_>, context: &LoadContext<'_>, keys: &Keys<'_>) -> Option<Cwd> {
    let Some(node) = keys.get("cwd") else { return Some(Cwd::Folder(context.folder.to_owned())) };
    let path = reader.filled_text("cwd", node)?;
    if path == "event" {
        return Some(Cwd::Event);
    }
    let folder = context.folder.join(path);
    if !folder.is_dir() {
        let message = format!("the folder does not exist: {}", folder.display());
        reader.error_with_help(node.span, message, "relative paths begin at the configuration's folder");
        return None;
    }
    Some(Cwd::Folder(folder))
}

fn program(reader: &mut Reader<'_>, context: &LoadContext<'_>, keys: &Keys<'_>) -> Option<Program> {
    let given: Vec<&str> = ["command", "argv", "handler"].into_iter().filter(|key| keys.has(key)).collect();
    match given[..] {
        ["command"] => {
            let node = keys.get("command")?;
            if node.as_list().is_some() {
                let help = "words without a shell are `argv: [program, argument, …]`";
                reader.error_with_help(node.span, "`command` must be text, but it is a list", help);
                return None;
            }
            let line = reader.filled_text("command", node)?;
            lint::pasted_data(reader, &line, node.span)?;
            Some(Program::Shell(line))
        }
        ["argv"] => {
            let node = keys.get("argv")?;
            let Value::List(items) = &node.value else {
                reader.expected("argv", "a list like [program, argument]", node);
                return None;
            };
            let words: Vec<String> = items.iter().filter_map(|item| reader.text("argv", item)).collect();
            if words.is_empty() || words.first().is_some_and(String::is_empty) {
                reader.error(node.span, "`argv` must begin with a program");
                return None;
            }
            (words.len() == items.len()).then_some(Program::Argv(words))
        }
        ["handler"] => {
            let node = keys.get("handler")?;
            let path = reader.filled_text("handler", node)?;
            match file(&context.folder.join(&path)) {
                Ok(words) => Some(Program::Argv(words)),
                Err((why, help)) => {
                    reader.error_with_help(node.span, why, help);
                    None
                }
            }
        }
        [] => {
            let help = "add `command:` (a shell line), `argv:` (words) or `handler:` (a file)";
            reader.error_with_help(keys.start(), "this hook of type command runs nothing", help);
            None
        }
        _ => {
            let message = format!("a hook runs one thing, but this one has {}", given.join(" and "));
            reader.error(keys.start(), message);
            None
        }
    }
}

pub(super) fn env(reader: &mut Reader<'_>, node: &Node) -> Vec<(String, String)> {
    let Some(entries) = node.as_map() else {
        reader.expected("env", "a mapping like {NAME: value}", node);
        return Vec::new();
    };
    let mut variables = Vec::with_capacity(entries.len());
    for entry in entries {
        if entry.key.is_empty() || entry.key.contains(['=', '\0']) {
            reader.error(
                entry.key_span,
                format!("`{}` cannot be the name of a variable", entry.key.escape_debug()),
            );
            continue;
        }
        let value = match &entry.value.value {
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            _ => {
                reader.expected(&entry.key, "text", &entry.value);
                continue;
            }
        };
        variables.push((entry.key.clone(), value));
    }
    variables
}

/// How to run a file. With a `#!` line: directly if it is executable, else with that interpreter. Without
/// one: with python for `.py`, else directly.
fn file(path: &Path) -> Result<Vec<String>, (String, &'static str)> {
    let relative = "relative paths begin at the configuration's folder";
    let shown = path.display();
    let meta = fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => (format!("the file does not exist: {shown}"), relative),
        _ => (format!("the file cannot be examined: {shown}: {error}"), relative),
    })?;
    if !meta.is_file() {
        return Err((format!("this is not a file: {shown}"), relative));
    }
    let text =
        path.to_str().ok_or_else(|| (format!("the path is not UTF-8: {shown}"), "rename it"))?.to_owned();
    let first = first_line(path)
        .map_err(|error| (format!("the file cannot be read: {shown}: {error}"), "check its permissions"))?;
    let executable = meta.permissions().mode() & 0o111 != 0;
    let is_python = path.extension().is_some_and(|extension| extension == "py");
    match first.strip_prefix("#!") {
        Some(_) if executable => Ok(vec![text]),
        Some(line) => {
            // As the kernel does it: the interpreter, and the rest of the line as one argument.
            let line = line.trim();
            let (interpreter, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
            if interpreter.is_empty() {
                return Err((
                    format!("its first line names no interpreter: {shown}"),
                    "write it like #!/bin/sh",
                ));
            }
            let argument = argument.trim();
            let words = [interpreter, argument].into_iter().filter(|word| !word.is_empty());
            Ok(words.map(str::to_owned).chain([text]).collect())
        }
        None if is_python => Ok(vec!["python3".to_owned(), text]),
        None if executable => Ok(vec![text]),
        None => {
            let help = "try `chmod +x`, or begin it with a line like #!/bin/sh";
            Err((format!("the file is not executable and has no `#!` line: {shown}"), help))
        }
    }
}

fn first_line(path: &Path) -> std::io::Result<String> {
    let mut start = Vec::new();
    fs::File::open(path)?.take(256).read_to_end(&mut start)?;
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).into_owned())
}
