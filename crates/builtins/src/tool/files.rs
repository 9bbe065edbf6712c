//! The files that a call names, by the names of its fields.

use crosier::Json;
use serde_json::Value;

use super::{lowercase, short_name};

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
    "absolutepath",
    "targetfile",
    "searchpath",
    "searchdirectory",
    "directorypath",
    "fullpath",
    "full_path",
    "cwd",
    "workdir",
];

/// Fields that hold a path in tools that change files.
const CHANGED: &[&str] = &[
    "from",
    "to",
    "target",
    "link",
    "link_path",
    "linkpath",
    "link_name",
    "linkname",
    "from_path",
    "to_path",
    "frompath",
    "topath",
    "source_path",
    "sourcepath",
    "src_path",
    "dst_path",
    "dest_path",
    "destination_path",
    "destinationpath",
    "targetpath",
    "old",
    "new",
    "oldpath",
    "newpath",
    "old_name",
    "new_name",
    "oldname",
    "newname",
    "name",
    "output",
    "output_file",
    "outputfile",
    "outputpath",
    "out",
    "outfile",
    "location",
    "item",
    "items",
    "entry",
    "entries",
    "sources",
    "targets",
    "destinations",
    "directories",
    "dirs",
    "folders",
    "dir_path",
    "dirpath",
    "directory_path",
    "folder_path",
    "folderpath",
    "filenames",
    "file_names",
];
/// Words in the names of tools after which what was there is gone, or is somewhere else.
#[rustfmt::skip]
const REMOVES: &[&str] = &[
    "delete", "remove", "rm", "rmdir", "unlink", "trash", "move", "mv", "rename", "symlink", "chmod", "chown",
    "erase", "wipe", "purge", "extract", "unzip", "decompress",
];
/// Words in the names of other tools that change files.
#[rustfmt::skip]
const WRITES: &[&str] = &[
    "write", "create", "edit", "update", "link", "hardlink", "copy", "cp", "replace", "append", "insert",
    "save", "put", "patch", "modify", "change", "truncate", "overwrite", "mkdir", "touch", "set", "add",
    "clear", "upload", "download", "restore", "sync",
];

/// The words of a tool's name, in lowercase: of `moveFile` and `move_file`.
pub(super) fn words(tool: &str) -> Vec<String> {
    let server = tool.rfind("__").map_or(0, |server| server + 2);
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in tool[server..].chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = c.is_ascii_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

fn has_one(tool: &str, of: &[&str]) -> bool {
    words(tool).iter().any(|word| of.contains(&word.as_str()))
}

/// Whether the name of a tool says that it changes files.
fn changes(tool: &str) -> bool {
    has_one(tool, WRITES) || has_one(tool, REMOVES)
}

/// Whether the name of a tool says that what was at a path is gone after it.
pub(crate) fn removes(tool: &str) -> bool {
    has_one(tool, REMOVES)
}

/// The paths in an input: fields with the name of one, at any depth, and the files of a patch.
pub(super) fn paths(tool: &str, input: &Json) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let is_change = changes(tool);
    // A pattern says which files a search reads.
    let pattern = match &*short_name(tool) {
        "grep" | "search_files" | "search" => "glob",
        "glob" | "find_files" => "pattern",
        _ => "",
    };
    // A duplicate field at the top level counts twice; further down, the last one counts.
    let fields = match input.entries() {
        Some(fields) => fields,
        None => vec![(String::new(), input.clone())],
    };
    for (name, value) in fields {
        if !pattern.is_empty() && name == pattern {
            found.extend(value.as_str().map(|text| text.into_owned()));
        }
        collect(&name, &value.to_value()?, is_change, &mut found);
    }
    Some(found)
}

fn collect(name: &str, value: &Value, is_change: bool, found: &mut Vec<String>) {
    let field = lowercase(name);
    let is_path = PATHS.contains(&&*field) || (is_change && CHANGED.contains(&&*field));
    match value {
        Value::String(text) if is_path => {
            let text = text.strip_prefix("file://").unwrap_or(text);
            // A path of Windows.
            if text.contains('\\') {
                found.push(text.replace('\\', "/"));
            }
            found.push(text.to_owned());
        }
        Value::String(text) if is_patch(text) => found.extend(patched(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(name, item, is_change, found)),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| collect(name, value, is_change, found))
        }
        _ => {}
    }
}

fn is_patch(text: &str) -> bool {
    text.contains("*** ")
        || text.contains("+++ ")
        || text.contains("diff --git ")
        || text.contains("rename to ")
}

/// The files that a patch names: `*** Update File: a`, `+++ b/a`, `rename to a`.
fn patched(text: &str) -> impl Iterator<Item = String> + '_ {
    const MARKS: [&str; 10] = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
        "--- ",
        "+++ ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
    ];
    text.lines().filter_map(|line| {
        let line = line.trim_start();
        let (mark, path) = MARKS.into_iter().find_map(|mark| Some((mark, line.strip_prefix(mark)?)))?;
        let path = path.split('\t').next().unwrap_or(path).trim();
        let is_diff = matches!(mark, "--- " | "+++ ");
        let path = if is_diff {
            path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
        } else {
            path
        };
        (!path.is_empty() && path != "/dev/null").then(|| path.to_owned())
    })
}
