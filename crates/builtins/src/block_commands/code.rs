//! Code in other languages: its string literals are searched for commands that the list would stop.

use std::path::Path;

use super::fit::Scene;
use crate::path::Places;
use crate::shell::Script;

/// Words in code that run a command.
const RUNS: [&str; 24] = [
    "system",
    "exec",
    "popen",
    "subprocess",
    "spawn",
    "child_process",
    "shell_exec",
    "passthru",
    "proc_open",
    "getline",
    "do shell script",
    "shell-command",
    "call-process",
    "process.run",
    "execute",
    "%x",
    "`",
    "runtime.getruntime",
    "processbuilder",
    "open3",
    "command::new",
    "sh(",
    "$`",
    "qx",
];
/// Words in code that delete files.
const DELETES: [&str; 19] = [
    "rmtree",
    "rmsync",
    "rmdirsync",
    "unlinksync",
    "rm_rf",
    "rm_r(",
    "rm_r ",
    "remove_entry",
    "unlink",
    "os.remove",
    "removesync",
    "rimraf",
    "deletetree",
    "remove_dir_all",
    "remove_tree",
    "fs.rm(",
    "removedirs",
    "delete-directory",
    "file delete",
];
/// Words in code that open a connection.
const CONNECTS: [&str; 9] = [
    "socket",
    "tcpsocket",
    "fsockopen",
    "/inet/tcp",
    "net.connect",
    "create_connection",
    "io::socket",
    "tcpclient",
    "net.socket",
];
/// Words in code that give a connection a shell.
const SHELLS: [&str; 12] = [
    "popen",
    "exec(",
    "/bin/sh",
    "/bin/bash",
    "pty.spawn",
    "dup2",
    "cmd.exe",
    "'sh'",
    "\"sh\"",
    "'bash'",
    "\"bash\"",
    "system(",
];
/// Words in code that download something.
const FETCHES: [&str; 17] = [
    "urlopen",
    "urlretrieve",
    "requests.get",
    "requests.post",
    "http.get",
    "https.get",
    "fetch(",
    "lwp",
    "open-uri",
    "open_uri",
    "httpx",
    "axios",
    "http://",
    "https://",
    "file_get_contents('http",
    "popen(\"curl",
    "popen('curl",
];
/// Words in code that write a file.
const WRITES: [&str; 10] = [
    "'w",
    "\"w",
    "'a'",
    "\"a\"",
    "write_text",
    "write_bytes",
    "writefile",
    "appendfile",
    "file.write",
    "file_put_contents",
];
/// Words in code that make a text readable.
const DECODES: [&str; 9] = [
    "base64",
    "pack(\"h",
    "pack('h",
    "decode_base64",
    "b64decode",
    "fromhex",
    "unhexlify",
    "codecs.decode",
    "marshal.loads",
];
/// Words in code that send something.
const SENDS: [&str; 9] = [
    "requests.post",
    "requests.put",
    "urlopen",
    "fetch(",
    "http.request",
    "https.request",
    ".post(",
    "sendall",
    "smtplib",
];
/// Code that prints the whole environment, without blanks.
const SHOWS_ENVIRONMENT: [&str; 16] = [
    "print(os.environ)",
    "print(dict(os.environ",
    "dumps(dict(os.environ",
    "pprint(os.environ",
    "pprint(dict(os.environ",
    "log(process.env)",
    "stringify(process.env",
    "entries(process.env",
    "env.to_h",
    "env.each",
    "keys%env",
    "print%env",
    "print_r(getenv()",
    "var_dump(getenv()",
    "print_r($_env",
    "inenviron)print",
];
/// Words in code for home folders.
const HOMES: [&str; 8] = [
    "expanduser",
    "homedir()",
    "path.home()",
    "dir.home",
    "env['home']",
    "env.home",
    "environ['home']",
    "environ[\"home\"]",
];

impl Scene<'_> {
    /// Whether code that this command runs does what an entry stops.
    pub(super) fn code_is_dangerous(&self) -> bool {
        self.command.code.iter().any(|code| self.is_dangerous(code))
    }

    fn is_dangerous(&self, code: &str) -> bool {
        let small = code.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| small.contains(word));
        if has(&CONNECTS) && has(&SHELLS) {
            return true;
        }
        if small.contains("env") {
            let dense: String = small.chars().filter(|c| !c.is_whitespace()).collect();
            if shows_key(code)
                || dense == "process.env"
                || SHOWS_ENVIRONMENT.iter().any(|shape| dense.contains(shape))
            {
                return true;
            }
        }
        let evaluates = has(&[
            "exec(",
            "eval(",
            "eval ",
            "compile(",
            "instance_eval",
            "then(eval",
            "system(req",
            "loadstring(",
            "include \"http",
            "include 'http",
            "require 'http",
        ]);
        if evaluates && (has(&FETCHES) || has(&DECODES)) {
            return true;
        }
        // A command that was written so that nobody can read it.
        if has(&DECODES[1..]) && has(&["system(", "popen(", "subprocess.", "execsync(", "shell_exec("]) {
            return true;
        }
        if small.contains("fork while") || (small.contains("fork()") && has(&["while", "for ", "loop"])) {
            return true;
        }
        let (runs, deletes, sends, writes) = (has(&RUNS), has(&DELETES), has(&SENDS), has(&WRITES));
        if !runs && !deletes && !sends && !writes {
            return false;
        }
        let texts = literals(code);
        if deletes
            && (has(&HOMES) || texts.iter().any(|text| self.stops(&format!("rm -rf {}", quoted(text)))))
        {
            return true;
        }
        let is_path = |text: &&String| text.starts_with(['/', '~']) && !text.contains(' ');
        let in_home = has(&HOMES);
        let writes_to = |text: &String| {
            self.stops(&format!("echo > {}", quoted(text)))
                || (in_home && self.stops(&format!("echo > {}", quoted(&format!("~{text}")))))
        };
        if writes && texts.iter().filter(is_path).any(writes_to) {
            return true;
        }
        if sends && texts.iter().any(|text| super::secret::is_secret(text)) {
            return true;
        }
        runs && texts.iter().any(|text| self.stops(text))
    }

    /// Whether a text would be stopped if it were run as a shell line.
    fn stops(&self, line: &str) -> bool {
        const LONGEST: usize = 4 << 10;
        if line.len() > LONGEST || !line.contains([' ', ':']) {
            return false;
        }
        // A text that ends in a blank is the beginning of one: `"rm -rf " + name`.
        let whole = if line.ends_with(' ') { format!("{line}$_") } else { line.to_owned() };
        let script = Script::parse(&whole);
        // Code inside code is not followed any deeper.
        if script.commands.iter().any(|command| !command.code.is_empty()) {
            return false;
        }
        let places = Places { cwd: self.places.cwd, home: self.places.home };
        self.list.judge(&script, places).is_some_and(|finding| finding.id.is_some())
    }
}

/// Whether code does nothing but print a variable with a well-known key: `print(os.environ["GITHUB_TOKEN"])`.
fn shows_key(code: &str) -> bool {
    const PRINTS: [&str; 3] = ["console.log(", "print(", "puts"];
    const GETS: [&str; 5] = ["process.env.", "os.environ[", "os.environ.get(", "os.getenv(", "ENV["];
    let dense: String = code.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '"')).collect();
    let code = dense.strip_prefix("importos;").unwrap_or(&dense);
    let code = PRINTS.iter().find_map(|print| code.strip_prefix(print)).unwrap_or(code);
    let Some(name) = GETS.iter().find_map(|get| code.strip_prefix(get)) else { return false };
    let name = name.trim_end_matches([')', ']', ';']);
    super::secret::key_owner(name).is_some()
}

/// The texts in quotes, and lists of them as one: `["rm", "-rf", "/"]`.
fn literals(code: &str) -> Vec<String> {
    const MOST: usize = 64;
    let bytes = code.as_bytes();
    let mut all: Vec<String> = Vec::new();
    let mut list: Vec<String> = Vec::new();
    let (mut at, mut end_of_last) = (0, 0);
    while at < bytes.len() && all.len() < MOST {
        let quote = bytes[at];
        if !matches!(quote, b'"' | b'\'' | b'`') {
            at += 1;
            continue;
        }
        let start = at + 1;
        let mut end = start;
        while end < bytes.len() && bytes[end] != quote {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let text = code.get(start..end.min(bytes.len())).unwrap_or_default();
        let text = text.replace("\\n", "\n").replace("\\/", "/").replace("\\\"", "\"").replace("\\'", "'");
        // Two string literals with only a comma between them belong to one list.
        let between = code.get(end_of_last..at).unwrap_or_default();
        if !list.is_empty() && (!between.contains(',') || between.chars().any(|c| !is_between(c))) {
            all.extend(joined(&mut list));
        }
        if !text.is_empty() {
            list.push(quoted(&text));
            all.push(text);
        }
        end_of_last = end + 1;
        at = end + 1;
    }
    all.extend(joined(&mut list));
    all
}

/// What stands between the texts of one command: `run('git', ['push'])`.
fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | '[' | '(')
}

fn joined(list: &mut Vec<String>) -> Option<String> {
    let words = std::mem::take(list);
    (words.len() > 1).then(|| words.join(" "))
}

/// A text quoted as one shell word.
fn quoted(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./~=:@,+*".contains(&byte)) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The folder that relative paths in code are resolved in.
pub(super) fn nowhere() -> &'static Path {
    Path::new("/nowhere")
}

#[cfg(test)]
mod tests {
    use super::literals;

    #[test]
    fn texts_of_code_are_found() {
        assert_eq!(literals("os.system('rm -rf /')"), ["rm -rf /"]);
        assert_eq!(literals("run([\"rm\", \"-rf\", \"/\"])").last().map(String::as_str), Some("rm -rf /"));
        assert_eq!(literals("a = 'x'; b = 'y'"), ["x", "y"]);
        assert_eq!(literals("'open"), ["open"]);
    }
}
