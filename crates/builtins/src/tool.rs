//! What a tool call is about: a command line, or files, by the tool's name and the fields of its input.

mod code;
mod files;
mod place;
mod typed;

use std::borrow::Cow;
use std::path::Path;

use crosier::Json;
use serde_json::Value;

use self::code::{
    STATEMENTS, code_in, inside_windows_line, is_database, is_windows, is_windows_line, language_of, parsed,
};
use self::files::paths;
pub(crate) use self::files::removes;
use self::place::folder;
pub(crate) use self::place::folders;
use crate::shell::Script;

/// What a tool does with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    Read,
    Write,
}

/// What a tool call is about.
#[derive(Debug)]
pub(crate) enum Subject {
    /// Command lines.
    Shell(Vec<Script>),
    /// Files.
    Files(Access, Vec<String>),
    /// Something else.
    Other,
    /// It cannot be inspected, for this reason.
    Unreadable(&'static str),
}

const SHELLS: &[&str] = &[
    "bash",
    "shell",
    "sh",
    "zsh",
    "terminal",
    "run_command",
    "run_terminal_cmd",
    "execute_command",
    "exec_command",
    "run_shell_command",
    "local_shell",
    "shell_exec",
    "shellexec",
    "execute_bash",
    "run_bash",
    "exec",
    "run_in_terminal",
    "container.exec",
    "execute_shell",
    "shell_command",
    "bash_command",
    "powershell",
    "pwsh",
    "cmd",
    "run_powershell",
    "execute_powershell",
    "powershell_command",
];
/// Fields that hold a command line.
const COMMANDS: &[&str] = &[
    "command",
    "cmd",
    "script",
    "commands",
    "command_line",
    "commandline",
    "shell_command",
    "bash_command",
    "shell",
    "bash",
    "argv",
    "cmdline",
];
/// Fields that hold code, in the language that another field names.
const CODES: &[&str] = &["code", "source_code", "snippet", "program"];
const LANGUAGES: &[&str] = &["language", "lang", "runtime", "interpreter", "kernel"];
/// Tools for files: their names, and what they do.
const FILES: &[(&str, Access)] = &[
    ("read", Access::Read),
    ("write", Access::Write),
    ("edit", Access::Write),
    ("multiedit", Access::Write),
    ("notebookedit", Access::Write),
    ("notebookread", Access::Read),
    ("ls", Access::Read),
    ("glob", Access::Read),
    ("grep", Access::Read),
    ("view", Access::Read),
    ("read_file", Access::Read),
    ("read_text_file", Access::Read),
    ("read_media_file", Access::Read),
    ("read_multiple_files", Access::Read),
    ("write_file", Access::Write),
    ("create_file", Access::Write),
    ("edit_file", Access::Write),
    ("delete_file", Access::Write),
    ("move_file", Access::Write),
    ("copy_file", Access::Write),
    ("rename_file", Access::Write),
    ("create_directory", Access::Write),
    ("list_directory", Access::Read),
    ("directory_tree", Access::Read),
    ("search_files", Access::Read),
    ("get_file_info", Access::Read),
    ("str_replace_editor", Access::Write),
    ("str_replace_based_edit_tool", Access::Write),
    ("apply_patch", Access::Write),
    ("insert_edit_into_file", Access::Write),
    ("search_replace", Access::Write),
];

/// Words in the names of tools that only read.
const LOOKS: &[&str] =
    &["read", "list", "get", "search", "view", "find", "grep", "glob", "stat", "tree", "show", "cat", "open"];

/// The name without the server, in lowercase: `run` for `mcp__server__run`.
fn short_name(tool: &str) -> Cow<'_, str> {
    let server = tool.as_bytes().windows(2).rposition(|pair| pair == b"__");
    lowercase(server.map_or(tool, |server| &tool[server + 2..]))
}

fn lowercase(name: &str) -> Cow<'_, str> {
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    }
}

/// Whether a tool runs command lines.
pub(crate) fn is_shell(tool: &str) -> bool {
    SHELLS.contains(&&*short_name(tool))
}

/// What a tool that is known to work on files does with them.
pub(crate) fn file_access(tool: &str) -> Option<Access> {
    let name = short_name(tool);
    FILES.iter().find(|(file_tool, _)| **file_tool == *name).map(|(_, access)| *access)
}

/// What a call of a known tool is about.
pub(crate) fn subject(tool: &str, input: &Json) -> Subject {
    if is_shell(tool) {
        return commands(tool, input, input.entries().as_deref());
    }
    let Some(access) = file_access(tool) else { return Subject::Other };
    match paths(tool, input) {
        Some(paths) => Subject::Files(access, paths),
        None => Subject::Unreadable(TOO_DEEP),
    }
}

const TOO_DEEP: &str = "its input is nested too deeply to be checked";

/// What a call of any tool is about, by the names of its fields.
pub(crate) fn any_subject(tool: &str, input: &Json) -> Subject {
    match subject(tool, input) {
        Subject::Other => {}
        known => return known,
    }
    if typed::is_typing(tool)
        && let Some(scripts) = scripts(tool, input)
    {
        return Subject::Shell(scripts);
    }
    let Some(paths) = paths(tool, input) else { return Subject::Unreadable(TOO_DEEP) };
    if let Some(scripts) = scripts(tool, input).filter(|_| paths.is_empty()) {
        return Subject::Shell(scripts);
    }
    if paths.is_empty() {
        return Subject::Other;
    }
    let name = short_name(tool);
    let looks = name.split(|c: char| !c.is_ascii_alphabetic()).any(|word| LOOKS.contains(&word));
    Subject::Files(if looks { Access::Read } else { Access::Write }, paths)
}

/// The command lines that a call of any tool runs, by the names of its fields; none when there are none.
///
/// File tools are excluded: their field `command` may only say what to do with the file.
pub(crate) fn scripts(tool: &str, input: &Json) -> Option<Vec<Script>> {
    scripts_of(tool, input, input.entries().as_deref())
}

/// Like [`scripts`], with the folder in which they run.
pub(crate) fn scripts_in<'a>(
    tool: &str,
    input: &Json,
    cwd: &'a Path,
) -> Option<(Vec<Script>, Cow<'a, Path>)> {
    let fields = input.entries();
    let scripts = scripts_of(tool, input, fields.as_deref())?;
    Some((scripts, folder(fields.as_deref().unwrap_or_default(), cwd)))
}

fn scripts_of(tool: &str, input: &Json, fields: Option<&[(String, Json)]>) -> Option<Vec<Script>> {
    if file_access(tool).is_some() {
        return None;
    }
    match commands(tool, input, fields) {
        Subject::Shell(scripts) => Some(scripts),
        _ => None,
    }
}

/// The command lines in the input of a tool. A duplicate field counts twice: it is not known which one the
/// tool uses.
fn commands(tool: &str, input: &Json, fields: Option<&[(String, Json)]>) -> Subject {
    let Some(fields) = fields else {
        return match input.as_str() {
            Some(line) => Subject::Shell(vec![parsed(tool, &line)]),
            None => Subject::Unreadable("its input is not an object with a command"),
        };
    };
    let text_of = |names: &[&str]| {
        let named = |name: &str| names.contains(&&*lowercase(name));
        fields
            .iter()
            .find(|(name, _)| named(name))
            .and_then(|(_, value)| value.as_str())
            .map(|text| text.into_owned())
    };
    let language = text_of(LANGUAGES).map(|text| text.to_ascii_lowercase());
    let language = language.unwrap_or_else(|| language_of(tool).to_owned());
    let mut scripts = if typed::is_typing(tool) { typed::typed(fields) } else { Vec::new() };
    for (name, value) in fields {
        let name = lowercase(name);
        if name == "url" {
            // The metadata service of a cloud, which also returns keys.
            let is_metadata =
                |url: &str| url.contains("169.254.169.254") || url.contains("metadata.google.internal");
            let url = value.as_str().filter(|url| is_metadata(url));
            scripts.extend(url.map(|url| Script::from_words(["curl", &url])));
            continue;
        }
        if name == "sql" || (STATEMENTS.contains(&&*name) && is_database(tool)) {
            scripts.extend(value.as_str().map(|sql| Script::from_words(["psql", "-c", &sql])));
            continue;
        }
        if CODES.contains(&&*name) {
            scripts.extend(value.as_str().and_then(|code| code_in(&language, &code)));
            continue;
        }
        if !COMMANDS.contains(&&*name) {
            continue;
        }
        let Some(value) = value.to_value() else { return Subject::Unreadable(TOO_DEEP) };
        match value {
            Value::Null => {}
            Value::String(line) => {
                let script = parsed(tool, &line);
                if is_windows(tool) {
                    scripts.extend(inside_windows_line(&line, &script));
                }
                scripts.push(script);
                // A line of Windows in a tool that says nothing about its shell.
                // It has no here-documents: paths in those are part of some other text.
                if is_windows_line(&line) && !is_windows(tool) && !line.contains("<<") {
                    let script = Script::parse_windows(&line);
                    scripts.extend(inside_windows_line(&line, &script));
                    scripts.push(script);
                }
                // `command: rm, args: [-rf, /]`
                scripts.extend(with_arguments(&line, fields));
            }
            Value::Array(items) if !collect_commands(tool, &name, &items, &mut scripts) => {
                return Subject::Unreadable("its command is not text");
            }
            Value::Array(_) => {}
            _ => return Subject::Unreadable("its command is not text"),
        }
    }
    match scripts.is_empty() {
        true => Subject::Unreadable("its input has no command"),
        false => Subject::Shell(scripts),
    }
}

/// Reads a list as the words of one command, or as several lines. Returns whether that worked.
fn collect_commands(tool: &str, name: &str, items: &[Value], scripts: &mut Vec<Script>) -> bool {
    if items.iter().all(Value::is_string) {
        let texts = || items.iter().filter_map(Value::as_str);
        if name == "commands" {
            scripts.extend(texts().map(|line| parsed(tool, line)));
        } else {
            scripts.push(Script::from_words(texts()));
        }
        return true;
    }
    // `commands: [{command: ls}, …]`
    items.iter().all(|item| {
        let Some(object) = item.as_object() else { return false };
        let line = object.iter().find(|(name, _)| COMMANDS.contains(&name.to_ascii_lowercase().as_str()));
        match line.and_then(|(_, value)| value.as_str()) {
            Some(line) => scripts.push(parsed(tool, line)),
            None => return false,
        }
        true
    })
}

/// The command with its arguments from another field.
fn with_arguments(line: &str, fields: &[(String, Json)]) -> Option<Script> {
    let is_arguments = |name: &str| matches!(&*lowercase(name), "args" | "arguments" | "parameters");
    let value = fields.iter().find(|(name, _)| is_arguments(name))?.1.to_value()?;
    let words: Vec<String> = match &value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(text) => return Some(Script::parse(&format!("{line} {text}"))),
        _ => return None,
    };
    Some(Script::from_words(std::iter::once(line.to_owned()).chain(words)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(tool: &str, input: &str) -> Vec<String> {
        match any_subject(tool, &Json::parse(input).unwrap()) {
            Subject::Files(_, paths) => paths,
            _ => Vec::new(),
        }
    }

    #[test]
    fn paths_are_found_by_the_names_of_fields() {
        assert_eq!(files("Read", r#"{"file_path":"a"}"#), ["a"]);
        assert_eq!(files("NotebookEdit", r#"{"notebook_path":"n","new_source":"path"}"#), ["n"]);
        assert_eq!(files("mcp__fs__move_file", r#"{"source":"a","destination":"b"}"#), ["a", "b"]);
        assert_eq!(files("x", r#"{"edits":[{"path":"a"},{"path":"b"}],"paths":["c"]}"#), ["a", "b", "c"]);
        assert_eq!(files("Read", r#"{"file_path":"a","file_path":"b"}"#), ["a", "b"]);
        assert_eq!(files("apply_patch", r#"{"input":"*** Begin Patch\n*** Update File: a/b\n@@"}"#), ["a/b"]);
    }

    #[test]
    fn patches_are_known_by_their_files() {
        assert_eq!(files("x", r#"{"diff":"--- a/.env\n+++ b/.env\n@@"}"#), [".env", ".env"]);
        assert_eq!(files("x", r#"{"patch":"diff --git a/x b/y\nrename from x\nrename to y"}"#), ["x", "y"]);
        assert_eq!(files("Grep", r#"{"pattern":"a","glob":".env*"}"#), [".env*"]);
    }

    #[test]
    fn any_tool_with_a_command_runs_it() {
        let shown = |tool: &str, input: &str| -> Vec<String> {
            let scripts = scripts(tool, &Json::parse(input).unwrap()).unwrap_or_default();
            scripts.iter().flat_map(|script| &script.commands).map(crate::shell::Command::show).collect()
        };
        assert_eq!(shown("mcp__box__run", r#"{"cmd":"rm -rf /"}"#), ["rm -rf /"]);
        assert_eq!(shown("x", r#"{"command":"rm","args":["-rf","/"]}"#), ["rm", "rm -rf /"]);
        assert_eq!(shown("x", r#"{"commands":["a b","c"]}"#), ["a b", "c"]);
        assert_eq!(shown("x", r#"{"commands":[{"command":"a"}]}"#), ["a"]);
        assert_eq!(shown("x", r#"{"language":"bash","code":"a; b"}"#), ["a", "b"]);
        assert_eq!(shown("x", r#"{"language":"python","code":"print(1)"}"#), ["python -c print(1)"]);
        assert_eq!(
            shown("PowerShell", r#"{"command":"Remove-Item C:\\x -Recurse"}"#),
            ["Remove-Item C:\\x -Recurse"]
        );
        assert_eq!(shown("str_replace_editor", r#"{"command":"view","path":"a"}"#), Vec::<String>::new());
        assert_eq!(
            folder(&Json::parse(r#"{"workdir":"../x"}"#).unwrap().entries().unwrap(), Path::new("/a/b")),
            Path::new("/a/x")
        );
    }

    #[test]
    fn commands_are_found_as_text_and_as_words() {
        let script = |input: &str| match subject("Bash", &Json::parse(input).unwrap()) {
            Subject::Shell(scripts) => scripts.iter().map(|script| script.commands.len()).collect(),
            _ => Vec::new(),
        };
        assert_eq!(script(r#"{"command":"a; b"}"#), [2]);
        assert_eq!(script(r#"{"command":["bash","-lc","a; b"]}"#), [3]);
        assert_eq!(script(r#"{"command":"a","command":"b"}"#), [1, 1]);
        assert!(matches!(subject("shell", &Json::parse("{}").unwrap()), Subject::Unreadable(_)));
        assert!(matches!(subject("Bash", &Json::parse(r#"{"command":7}"#).unwrap()), Subject::Unreadable(_)));
    }
}
