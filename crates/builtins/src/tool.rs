//! What a tool call is about: a command line, or files, by the tool's name and the fields of its input.

use crosier::Json;
use serde_json::Value;

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
    /// It cannot be looked into; why.
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
];
const COMMANDS: &[&str] = &["command", "cmd", "script", "commands", "command_line", "commandline"];

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

/// Fields that hold a path, or several.
const PATHS: &[&str] = &[
    "file_path",
    "path",
    "filepath",
    "file",
    "filename",
    "file_name",
    "notebook_path",
    "source",
    "destination",
    "src",
    "dst",
    "dest",
    "target_file",
    "target_path",
    "paths",
    "files",
    "file_paths",
    "uri",
    "directory",
    "dir",
    "folder",
    "absolute_path",
    "relative_path",
    "output_path",
    "input_path",
    "old_path",
    "new_path",
    "relative_workspace_path",
    "pathinproject",
    "cwd",
    "workdir",
];

/// Words in the name of a tool that only looks.
const LOOKS: &[&str] =
    &["read", "list", "get", "search", "view", "find", "grep", "glob", "stat", "tree", "show", "cat", "open"];

/// The name behind the server: `run` of `mcp__server__run`, in small letters.
fn short_name(tool: &str) -> String {
    tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase()
}

/// Whether a tool runs command lines.
pub(crate) fn is_shell(tool: &str) -> bool {
    SHELLS.contains(&short_name(tool).as_str())
}

/// What a tool that is known to work on files does with them.
pub(crate) fn file_access(tool: &str) -> Option<Access> {
    let name = short_name(tool);
    FILES.iter().find(|(file_tool, _)| *file_tool == name).map(|(_, access)| *access)
}

/// What a call of a known tool is about.
pub(crate) fn subject(tool: &str, input: &Json) -> Subject {
    if is_shell(tool) {
        return commands(input);
    }
    let Some(access) = file_access(tool) else { return Subject::Other };
    match paths(input) {
        Some(paths) => Subject::Files(access, paths),
        None => Subject::Unreadable("its input is nested too deeply to be looked into"),
    }
}

/// What a call of any tool is about, by the names of its fields.
pub(crate) fn any_subject(tool: &str, input: &Json) -> Subject {
    match subject(tool, input) {
        Subject::Other => {}
        known => return known,
    }
    let Some(paths) = paths(input) else {
        return Subject::Unreadable("its input is nested too deeply to be looked into");
    };
    if paths.is_empty() {
        return Subject::Other;
    }
    let name = short_name(tool);
    let looks = name.split(|c: char| !c.is_ascii_alphabetic()).any(|word| LOOKS.contains(&word));
    Subject::Files(if looks { Access::Read } else { Access::Write }, paths)
}

/// The command lines in the input of a shell tool. A field that is there twice counts twice: nobody knows
/// which one the tool takes.
fn commands(input: &Json) -> Subject {
    let Some(fields) = input.entries() else {
        return match input.as_str() {
            Some(line) => Subject::Shell(vec![Script::parse(&line)]),
            None => Subject::Unreadable("its input is not an object with a command"),
        };
    };
    let mut scripts = Vec::new();
    for (_, value) in fields.iter().filter(|(name, _)| COMMANDS.contains(&name.to_ascii_lowercase().as_str()))
    {
        if let Some(line) = value.as_str() {
            scripts.push(Script::parse(&line));
            continue;
        }
        match value.to_value() {
            Some(Value::Array(words)) if words.iter().all(Value::is_string) => {
                scripts.push(Script::from_words(words.iter().filter_map(Value::as_str)));
            }
            Some(Value::Null) => {}
            _ => return Subject::Unreadable("its command is not text"),
        }
    }
    match scripts.is_empty() {
        true => Subject::Unreadable("its input has no command"),
        false => Subject::Shell(scripts),
    }
}

/// The paths in an input: fields with the name of one, at any depth, and the files of a patch.
fn paths(input: &Json) -> Option<Vec<String>> {
    let mut found = Vec::new();
    // Twice the same field at the top counts twice; further down the last one counts.
    let fields = match input.entries() {
        Some(fields) => fields,
        None => vec![(String::new(), input.clone())],
    };
    for (name, value) in fields {
        collect(&name, &value.to_value()?, &mut found);
    }
    Some(found)
}

fn collect(name: &str, value: &Value, found: &mut Vec<String>) {
    let is_path = PATHS.contains(&name.to_ascii_lowercase().as_str());
    match value {
        Value::String(text) if is_path => found.push(text.clone()),
        Value::String(text) if text.contains("*** ") => found.extend(patched(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(name, item, found)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| collect(name, value, found)),
        _ => {}
    }
}

/// The files that a patch names.
fn patched(text: &str) -> impl Iterator<Item = String> + '_ {
    const MARKS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    text.lines().filter_map(|line| {
        let line = line.trim_start();
        MARKS.into_iter().find_map(|mark| line.strip_prefix(mark)).map(|path| path.trim().to_owned())
    })
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
