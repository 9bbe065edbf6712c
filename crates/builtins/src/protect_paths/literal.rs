//! What code does with a name in quotes: it reads the file, it may write it, or the name is just a text.
//!
//! Names of files that may be read but not written are in much code that only reads them, or that changes texts in
//! which they occur. So the call around the quotes is looked at, and whether the code can write at all.

use crate::shell::Effect;

/// Words of code that can write, delete or move a file, or run something that does. All are in lowercase.
const WRITES: &[&str] = &[
    "'w'",
    "\"w\"",
    "'wb'",
    "\"wb\"",
    "'wt'",
    "\"wt\"",
    "'w+",
    "\"w+",
    "'a'",
    "\"a\"",
    "'ab'",
    "\"ab\"",
    "'at'",
    "\"at\"",
    "'a+",
    "\"a+",
    "'r+",
    "\"r+",
    "'rb+",
    "\"rb+",
    "'x'",
    "\"x\"",
    "'xb'",
    "write",
    "append_text",
    "appendfile",
    "put_contents",
    "o_rdwr",
    "o_creat",
    "truncate",
    "touch(",
    "inplace",
    "mmap",
    "unlink",
    "os.remove",
    "removesync",
    "remove_",
    "removefile",
    "file.remove",
    "rmtree",
    "rmsync",
    "rm_",
    "rm(",
    "rmdir",
    "file.delete",
    "file]::delete",
    "file]::move",
    "file]::create",
    "file]::open",
    "delete_file",
    "deletefile",
    "rename",
    "os.replace",
    "shutil",
    "fileutils",
    "file.copy",
    "copyfile",
    "cpsync",
    ".cp(",
    "copysync",
    "movesync",
    "link",
    "chmod",
    "extract",
    "urlretrieve",
    ".save",
    ".to_",
    "sink(",
    "system",
    "subprocess",
    "popen",
    "spawn",
    "exec",
    "eval",
    "compile(",
    "child_process",
    "process.run",
    "getattr",
    "__import__",
    "import_module",
    "globals()",
    "ctypes",
    "runpy",
    "qx",
    "%x",
    "fs[",
    "')[",
    "\")[",
    ".call(",
    ".send(",
    "pathname",
];

/// Calls for whose texts no file is opened, by the last part of their names.
const OF_TEXTS: &[&str] = &[
    "replace",
    "replaceall",
    "sub",
    "subn",
    "gsub",
    "startswith",
    "endswith",
    "includes",
    "contains",
    "split",
    "count",
    "find",
    "findall",
    "index",
    "indexof",
    "match",
    "fullmatch",
    "search",
    "test",
    "print",
    "log",
    "error",
    "warn",
    "info",
    "puts",
    "echo",
    "exit",
    "exception",
    "assertequal",
    "assertin",
    "write",
    "write_text",
    "fnmatch",
];

/// Calls that use only whether a file is there, its size or its date.
const OF_STATE: &[&str] = &[
    "exists",
    "lexists",
    "isfile",
    "isdir",
    "islink",
    "getsize",
    "getmtime",
    "existssync",
    "statsync",
    "lstatsync",
    "stat",
    "lstat",
    "access",
    "accesssync",
    "exist?",
    "file?",
    "directory?",
    "file_exists",
    "is_file",
    "is_dir",
    "filesize",
    "filemtime",
    "basename",
    "dirname",
];

/// Calls that read the file which is their first argument.
const OF_READERS: &[&str] = &[
    "readfilesync",
    "readfile",
    "require",
    "load_file",
    "safe_load_file",
    "file.read",
    "file.readlines",
    "file.foreach",
    "io.read",
    "io.readlines",
    "file_get_contents",
    "readlines",
    "readtextfile",
    "read_csv",
    "read_json",
    "readalltext",
    "readalllines",
    "readallbytes",
];

/// Calls that delete or move their file or folder.
const OF_DELETERS: &[&str] = &[
    "rmtree",
    "rmsync",
    "rm_rf",
    "rm_r",
    "rm",
    "rmdirsync",
    "unlink",
    "unlinksync",
    "remove",
    "removesync",
    "remove_dir_all",
    "remove_entry_secure",
    "rename",
    "renamesync",
    "move",
    "movesync",
    "mv",
];

/// Whether code can write a file, or do something of which nobody can tell.
pub(super) fn can_write(code: &str, language: &str) -> bool {
    // `beforeShellExecution` runs nothing.
    let code = code.to_lowercase().replace("execution", "").replace("executable", "");
    // What stands in back quotes is a text in JavaScript, and is run by the others.
    let by_shell = matches!(language, "perl" | "ruby" | "php") && code.contains('`');
    let by_arrow = language == "perl" && ["\">", "'>", "\"+<", "'+<"].iter().any(|mark| code.contains(mark));
    by_shell || by_arrow || WRITES.iter().any(|word| code.contains(word))
}

/// What the code does with the file whose name begins and ends at these places; `None` when it is just a text.
pub(super) fn effect(code: &str, start: usize, end: usize, can_write: bool) -> Option<Effect> {
    let unclear = Some(if can_write { Effect::Unknown } else { Effect::Read });
    let (Some(before), Some(after)) = (code.get(..start.saturating_sub(1)), code.get(end + 1..)) else {
        return unclear;
    };
    // Prefixes of Python: r'…', f'…'.
    let before = before
        .strip_suffix(['r', 'f', 'b', 'u'])
        .filter(|rest| !rest.ends_with(is_of_name))
        .unwrap_or(before);
    let before = before.trim_end();
    if ["==", "!="].iter().any(|mark| before.ends_with(mark))
        || after.starts_with(" in ")
        || after.starts_with(" not in ")
    {
        return None;
    }
    if can_write && is_only_opened(code, before, after) {
        return Some(Effect::Read);
    }
    let Some((call, is_first)) = call_around(before) else { return unclear };
    let call = call.to_lowercase();
    let last = call.rsplit('.').next().unwrap_or_default();
    let after = after.trim_start();
    let is_path = matches!(last, "path" | "file");
    let state = ["exists()", "is_file()", "is_dir()", "stat()", "name", "suffix", "parent"];
    let method = after.strip_prefix(").").filter(|_| is_path);
    if OF_TEXTS.contains(&last) || OF_STATE.contains(&last) {
        return None;
    }
    if method.is_some_and(|method| state.iter().any(|name| method.starts_with(name))) {
        return None;
    }
    if is_first && (OF_DELETERS.contains(&last) || method.is_some_and(|method| method.starts_with("unlink")))
    {
        return Some(Effect::Delete);
    }
    let is_content = !is_first
        && matches!(
            last,
            "writefilesync" | "writefile" | "appendfilesync" | "appendfile" | "file_put_contents"
        );
    if is_content {
        return None;
    }
    let is_read = is_first
        && (OF_READERS.iter().any(|name| *name == call || *name == last)
            || (matches!(&*call, "open" | "io.open" | "file.open") && opens_for_reading(after))
            || method.is_some_and(|method| method.starts_with("read_") || method.starts_with("open()")));
    if is_read { Some(Effect::Read) } else { unclear }
}

/// Whether code has this text in quotes only where no file is meant: `s.replace('/etc/app', …)`.
pub(crate) fn is_just_text(code: &str, text: &str) -> bool {
    const MOST: usize = 8;
    let places = code.match_indices(text).map(|(at, _)| at).take(MOST);
    let mut quoted = places.filter(|at| code[..*at].ends_with(['"', '\'', '`'])).peekable();
    quoted.peek().is_some() && quoted.all(|at| effect(code, at, at + text.len(), true).is_none())
}

/// `p = 'a'`: whether the code only opens what this variable names, for reading.
fn is_only_opened(code: &str, before: &str, after: &str) -> bool {
    const MOST: usize = 32;
    const OPENS: [&str; 6] = ["open(", "readFileSync(", "readFile(", "exists(", "existsSync(", "read_json("];
    let Some(front) = before.trim_end().strip_suffix('=') else { return false };
    let name = front.trim_end().rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
    let ends = after.trim_start_matches(' ').starts_with(['\n', ';']);
    if name.is_empty() || !ends || code.contains(&format!("{{{name}")) {
        return false;
    }
    let is_own = |at: usize| {
        let rest = &code[at + name.len()..];
        !code[..at].ends_with(is_of_name) && !rest.starts_with(is_of_name)
    };
    let uses: Vec<usize> =
        code.match_indices(name).map(|(at, _)| at).filter(|at| is_own(*at)).take(MOST).collect();
    let set = |at: usize| {
        let rest = code[at + name.len()..].trim_start();
        rest.starts_with('=') && !rest.starts_with("==")
    };
    let opens = |at: usize| {
        OPENS.iter().any(|open| code[..at].ends_with(open))
            && opens_for_reading(code[at + name.len()..].trim_start())
    };
    let sets = uses.iter().filter(|at| set(**at)).count();
    sets == 1 && uses.len() > 1 && uses.len() < MOST && uses.iter().all(|at| set(*at) || opens(*at))
}

/// Whether what follows the name of a file that is opened asks for nothing but reading.
fn opens_for_reading(after: &str) -> bool {
    let Some(rest) = after.strip_prefix(',') else { return after.starts_with(')') };
    let rest = rest.trim_start();
    let mode = ["'r'", "\"r\"", "'rb'", "\"rb\"", "'rt'", "\"rt\""];
    let is_last = |rest: &str| rest.trim_start().starts_with([')', ',']);
    mode.iter().any(|mode| rest.strip_prefix(mode).is_some_and(is_last))
        || (rest.starts_with("encoding") && !rest.split(')').next().unwrap_or(rest).contains("mode"))
}

/// The call in whose parentheses the code ends, and whether nothing stands between those and the end.
fn call_around(before: &str) -> Option<(&str, bool)> {
    const FARTHEST: usize = 300;
    let bytes = before.as_bytes();
    let first = bytes.len().saturating_sub(FARTHEST);
    let (mut at, mut depth) = (bytes.len(), 0_u32);
    while at > first {
        at -= 1;
        match bytes[at] {
            quote @ (b'\'' | b'"' | b'`') => {
                // Over the text before.
                at = bytes[first..at].iter().rposition(|byte| *byte == quote)? + first;
            }
            b')' | b']' | b'}' => depth += 1,
            b'[' | b'{' if depth == 0 => return None,
            b';' if depth == 0 => return None,
            b'[' | b'{' => depth -= 1,
            b'(' if depth > 0 => depth -= 1,
            b'(' => {
                let front = &before[..at];
                let start = front
                    .rfind(|c| !is_of_name(c) && c != '.')
                    .map_or(0, |place| place + front[place..].chars().next().map_or(1, char::len_utf8));
                return Some((&front[start..], at + 1 == bytes.len()));
            }
            _ => {}
        }
    }
    None
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '?' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is done with the first text in single quotes.
    fn effect_of(code: &str) -> Option<Effect> {
        let start = code.find('\'').unwrap() + 1;
        let end = start + code[start..].find('\'').unwrap();
        effect(code, start, end, true)
    }

    #[test]
    fn what_code_does_with_a_name_is_told() {
        for code in [
            "open('a').read()",
            "open( 'a', 'r')",
            "json.load(open(r'a', encoding='utf8'))",
            "Path('a').read_text()",
            "fs.readFileSync('a', \"utf8\")",
        ] {
            assert_eq!(effect_of(code), Some(Effect::Read), "{code}");
        }
        for code in [
            "open('a', 'w')",
            "open('a', encoding='x', mode='w')",
            "open(F, '>a')",
            "Path('a').write_text(x)",
            "p = 'a'",
            "fs.writeFileSync('a', 1)",
            "for f in ['a']: go(f)",
            "'a'",
        ] {
            assert_eq!(effect_of(code), Some(Effect::Unknown), "{code}");
        }
        for code in [
            "s.replace('a', b)",
            "s.replace(\"b\", 'a')",
            "os.path.exists('a')",
            "x == 'a'",
            "Path('a').exists()",
        ] {
            assert_eq!(effect_of(code), None, "{code}");
        }
    }

    #[test]
    fn what_is_deleted_is_told() {
        for code in ["shutil.rmtree('a')", "fs.rmSync('a', {})", "Path('a').unlink()"] {
            assert_eq!(effect_of(code), Some(Effect::Delete), "{code}");
        }
    }

    #[test]
    fn code_that_can_write_is_told() {
        for code in ["open(p, 'w')", "p.write_text(x)", "os.system(x)", "fs[x](p)"] {
            assert!(can_write(code, "python"), "{code}");
        }
        for code in ["json.load(open(p))", "print(`a`)", "print(2 * 3)"] {
            assert!(!can_write(code, "node"), "{code}");
        }
    }
}
