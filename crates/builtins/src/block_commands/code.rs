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
const DELETES: [&str; 16] = [
    "rmtree",
    "rmsync",
    "rmdirsync",
    "unlinksync",
    "rm_rf",
    "rm_r(",
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
const FETCHES: [&str; 15] = [
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
/// Words in code for home folders.
const HOMES: [&str; 5] = ["expanduser", "homedir()", "path.home()", "dir.home", "env['home']"];

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
        let evaluates = has(&["exec(", "eval(", "eval ", "compile(", "instance_eval"]);
        if evaluates
            && (has(&FETCHES) || has(&["base64", "fromhex", "unhexlify", "codecs.decode", "marshal"]))
        {
            return true;
        }
        if small.contains("fork while") || (small.contains("fork()") && has(&["while", "for ", "loop"])) {
            return true;
        }
        let (runs, deletes, sends) = (has(&RUNS), has(&DELETES), has(&SENDS));
        if !runs && !deletes && !sends {
            return false;
        }
        let texts = literals(code);
        if deletes
            && (has(&HOMES) || texts.iter().any(|text| self.stops(&format!("rm -rf {}", quoted(text)))))
        {
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
        let script = Script::parse(line);
        // Code inside code is not followed any deeper.
        if script.commands.iter().any(|command| !command.code.is_empty()) {
            return false;
        }
        let places = Places { cwd: self.places.cwd, home: self.places.home };
        self.list.judge(&script, places).is_some_and(|finding| finding.id.is_some())
    }
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
        if !list.is_empty() && between.trim() != "," {
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
