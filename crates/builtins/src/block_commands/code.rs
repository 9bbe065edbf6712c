//! Code in other languages: its string literals are searched for commands that the list would stop.

mod fold;
mod groups;
mod names;
mod token;

use std::path::Path;

use super::code_words::{
    DECODES, DELETES, DELETES_TREES, DENSE_CONNECTS, DENSE_ENVIRONMENT, DENSE_HOMES, DENSE_RECORDS,
    DENSE_SENDS, DENSE_SHOWS_ENVIRONMENT, ENCRYPTS, EVALUATES, FETCHES, RUNS, SHELLS, WALKS, WRITES,
};
use super::fit::CommandContext;
use super::{code_machine, secret, sql, written};
use crate::path::Places;
use crate::protect_paths::is_just_text;
use crate::shell::{Doubt, Script};
use names::{COPIES, HIDDEN, HIDDEN_CALLS, MOVES};

impl CommandContext<'_> {
    /// Whether code that this command runs does what an entry stops.
    pub(super) fn code_is_dangerous(&self) -> bool {
        self.command.code.iter().any(|code| self.is_dangerous(code, 0))
    }

    fn is_dangerous(&self, code: &str, depth: u8) -> bool {
        /// Code in code: `eval('exec("…")')`.
        const DEEPEST: u8 = 2;
        let language = self.command.name().unwrap_or_default();
        let plain = groups::without_plain_texts(code, language);
        let code = plain.as_str();
        let folded = fold::folded(code, language);
        if folded.sums.iter().any(|text| HIDDEN.contains(&text.to_lowercase().as_str())) {
            return true;
        }
        // `open(os.path.join(home, '.s' + 'sh', 'id_rsa'))`
        let is_key = |text: &String| {
            ["/.ssh/id_", "/.aws/credentials", "/.git-credentials", "/.netrc", "/.gnupg/"]
                .iter()
                .any(|part| text.contains(part))
                && !text.ends_with(".pub")
        };
        let reads = ["open(", "read", "slurp", "file("].iter().any(|word| code.to_lowercase().contains(word));
        if reads && folded.sums.iter().any(is_key) {
            return true;
        }
        let mut lower = code.to_lowercase();
        for text in &folded.texts {
            lower.push('\n');
            lower.push_str(&text.to_lowercase());
        }
        let dense: String =
            lower.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '"')).collect();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let has_dense = |words: &[&str]| words.iter().any(|word| dense.contains(word));
        let without_web = dense.replace("websocket", "");
        let connects = DENSE_CONNECTS.iter().any(|word| without_web.contains(word));
        let sends = has_dense(DENSE_SENDS);
        let has_shell = || has(SHELLS) || lower.split("`$").skip(1).any(|rest| !rest.starts_with('{'));
        if (connects && has_shell()) || dense.contains("/inet/tcp") {
            return true;
        }
        if lower.contains("env") || lower.contains("phpinfo") {
            let shows = shows_key(code)
                || dense == "process.env"
                || has_dense(DENSE_SHOWS_ENVIRONMENT)
                || shows_every_variable(&dense);
            if shows || (sends && has_environment(&dense)) {
                return true;
            }
        }
        if depth < DEEPEST && has(EVALUATES) {
            let is_built = |text: &String| HIDDEN_CALLS.iter().any(|call| text.contains(call));
            let is_code = |text: &String| text.contains('(') && self.is_dangerous(text, depth + 1);
            if folded.sums.iter().any(is_built) || literals(code).iter().any(is_code) {
                return true;
            }
        }
        let evaluates_download = lower.contains("eval(") && has(&["curl ", "wget "]);
        if evaluates_download || (has(EVALUATES) && (fetches_code(&lower) || has(DECODES))) {
            return true;
        }
        let chars = lower.matches("chr(").count() > 2;
        // An obfuscated command.
        let is_hidden = has(&DECODES[1..]) || chars || (lower.contains("buffer.from(") && runs_text(&lower));
        if is_hidden && has(&["system(", "popen(", "subprocess.", "execsync(", "shell_exec(", "getattr("]) {
            return true;
        }
        if lower.contains("fork while") || (lower.contains("fork()") && has(&["while", "for ", "loop"])) {
            return true;
        }
        let is_kept = |path: &str| self.stops(&format!("rm -rf {}", quoted(path)));
        if code_machine::uses_up(&lower, &dense)
            || code_machine::writes_device(&lower)
            || code_machine::changes_rights(&lower, &literals(code), is_kept)
        {
            return true;
        }
        // What stands in back quotes is a text in Python and JavaScript.
        let runs_quoted = !matches!(
            language.trim_end_matches(char::is_numeric),
            "python" | "node" | "nodejs" | "deno" | "bun"
        );
        let runs = has(RUNS) || (runs_quoted && lower.contains('`'));
        let (deletes, writes) = (has(DELETES), has(WRITES));
        let in_home = has_dense(DENSE_HOMES);
        if groups::harm(&dense)
            || has_dense(DENSE_RECORDS)
            || serves_files(&dense)
            || (in_home && has(WALKS) && has(ENCRYPTS))
        {
            return true;
        }
        let transfers = !folded.transfers.is_empty();
        if !runs && !deletes && !sends && !writes && !transfers && !lower.contains("query") {
            return false;
        }
        let mut texts = literals(code);
        texts.extend(folded.texts);
        if lower.contains("argv") {
            texts.extend(self.words_after(code));
        }
        // Tcl needs no quotes.
        let paths = lower.split("file delete ").skip(1).flat_map(|rest| rest.split_whitespace().take(4));
        texts.extend(paths.filter(|path| !path.starts_with('-')).map(str::to_owned));
        // Neither does CMake.
        let commands = lower.split("command ").skip(1).filter(|_| lower.contains("execute_process("));
        let ends = |c: char| matches!(c, ')' | '\n');
        texts.extend(commands.filter_map(|rest| rest.split(ends).next()).take(8).map(str::to_owned));
        let deletes_home = || in_home && !names_recreatable_files(&texts);
        // What walks from here and deletes files of one kind deletes no folder.
        let is_picky = lower.contains("endswith(") && !has(DELETES_TREES);
        // `sys.path.insert(0, '.')`
        let is_deleted_here =
            || DELETES.iter().any(|word| dense.contains(&format!("{}(.", word.trim_end_matches('('))));
        let is_start = |text: &str| matches!(text, "." | "./") && (is_picky || !is_deleted_here());
        // One file is deleted: a plain name is that of a file, or a word of some command.
        let trees = has(DELETES_TREES) || lower.contains("recursive") || lower.contains("rmdir");
        let is_name =
            |text: &str| !trees && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let removes = |text: &String| {
            !is_start(text)
                && !is_name(text)
                && self.stops(&format!("rm -rf {}", quoted(text)))
                && !is_just_text(code, text)
        };
        if deletes && (deletes_home() || texts.iter().any(removes)) {
            return true;
        }
        let is_path = |text: &&String| {
            text.trim_start_matches(['>', '+', '<']).starts_with(['/', '~']) && !text.contains(' ')
        };
        let writes_to = |text: &String| {
            let path = text.trim_start_matches(['>', '+', '<']);
            self.stops(&format!("echo > {}", quoted(path)))
                || (in_home && self.stops(&format!("echo > {}", quoted(&format!("~{path}")))))
        };
        let harms = |(call, from, to): &(String, Option<String>, Option<String>)| {
            let moves = |path: &String| self.stops(&format!("mv {} /tmp/moved", quoted(path)));
            let target = to.as_ref().filter(|path| path.starts_with(['/', '~']));
            (MOVES.contains(&call.as_str()) && from.as_ref().is_some_and(moves))
                || target.is_some_and(|path| COPIES.contains(&call.as_str()) && writes_to(path))
        };
        if folded.transfers.iter().any(harms) {
            return true;
        }
        if writes
            && (texts.iter().filter(is_path).any(|text| writes_to(text) && !is_just_text(code, text))
                || written::has_attack(&lower))
        {
            return true;
        }
        if sends && (texts.iter().any(|text| secret::is_secret(text)) || sends_key(code)) {
            return true;
        }
        let asks_database = has(&["execute", "query", "cursor", ".raw(", ".exec(", "prepare("]);
        let is_kept_database = !lower.contains(":memory:") && !dense.contains("connect(/tmp/");
        if asks_database && is_kept_database && texts.iter().any(|text| sql::destroys(text)) {
            return true;
        }
        // `exec "rm", "-rf", $ENV{HOME}`
        let with_home = |text: &String| in_home && self.stops(&format!("{} ~", text.trim_end()));
        runs && texts.iter().any(|text| self.stops(text) || with_home(text))
    }

    /// The words that the code gets, and all of them as one line.
    fn words_after(&self, code: &str) -> Vec<String> {
        let words = self.command.arguments();
        let Some(place) = words.iter().position(|word| word.show() == code) else { return Vec::new() };
        let mut texts: Vec<String> = words[place + 1..].iter().map(|word| word.show().into_owned()).collect();
        texts.push(texts.join(" "));
        texts
    }

    /// Whether a text would be stopped if it were run as a shell line.
    fn stops(&self, line: &str) -> bool {
        const LONGEST: usize = 4 << 10;
        // More lines than this are the content of a file.
        const MOST_LINES: usize = 6;
        let is_long = line.len() > LONGEST || line.matches('\n').count() > MOST_LINES;
        if is_long || !line.contains([' ', ':']) {
            return false;
        }
        // A text that ends with a space is the beginning of a command: `"rm -rf " + name`.
        let whole = if line.ends_with(' ') { format!("{line}$_") } else { line.to_owned() };
        let script = Script::parse(&whole);
        // A shell runs nothing of a line with such a mistake: it is a regular expression, `(?:a|b)`.
        let is_mistake = |doubt: &Doubt| doubt.why == "a ( is not allowed there";
        if !line.contains('\n') && script.doubts.iter().any(is_mistake) {
            return false;
        }
        // Code inside code is not followed any deeper.
        if script.commands.iter().any(|command| !command.code.is_empty()) {
            return false;
        }
        let places = Places { cwd: self.places.cwd, home: self.places.home };
        self.list.judge(&script, places).is_some_and(|finding| finding.id.is_some())
    }
}

/// Whether code decodes bytes to text: `Buffer.from(x, 'hex').toString()`.
fn runs_text(lower: &str) -> bool {
    lower.contains("hex") || lower.contains("base64")
}

/// Whether code holds the whole environment, and not just one variable of it.
fn has_environment(dense: &str) -> bool {
    const STARTS: [&str; 4] = ["popen(", "subprocess.", "spawn", "exec"];
    let starts = STARTS.iter().any(|word| dense.contains(word));
    DENSE_ENVIRONMENT.iter().any(|word| {
        dense.match_indices(word).any(|(at, _)| {
            let after = &dense[at + word.len()..];
            // What another program gets: `Popen(…, env=os.environ)`.
            let before = dense[..at].trim_end_matches(['*', '.', '{']);
            if starts && ["env=", "env:", "env=dict("].iter().any(|end| before.ends_with(end)) {
                return false;
            }
            !after.starts_with(['[', '.', '{']) || after.starts_with(".copy") || after.starts_with(".items")
        })
    })
}

/// Whether code prints all variables one by one: `for k in os.environ: print(k, os.environ[k])`.
fn shows_every_variable(dense: &str) -> bool {
    let loops = ["inos.environ.items()", "inos.environ:", "inos.environ}", "inprocess.env)"];
    let values = ["os.environ.items()", "os.environ[k", "os.environ.get(k", "process.env[k"];
    let prints = ["print(", "console.log(", ".write("];
    let has = |words: &[&str]| words.iter().any(|word| dense.contains(word));
    // What chooses among them shows a few.
    has(&loops) && has(&values) && has(&prints) && !dense.contains("if")
}

/// Whether code gives everybody the files of this machine: a server for files in the home or root folder.
fn serves_files(dense: &str) -> bool {
    let serves = ["http.server", "simplehttprequesthandler", "simplehttpserver"]
        .iter()
        .any(|word| dense.contains(word));
    let places = [
        "chdir(/)",
        "chdir(~",
        "chdir(os.path.expanduser",
        "chdir(path.home",
        "directory=/)",
        "directory=/,",
        "directory=os.path.expanduser",
        "directory=path.home",
        "directory=~",
    ];
    serves && places.iter().any(|place| dense.contains(place))
}

/// Whether code downloads something that it may run; an address alone can be a text like any other.
fn fetches_code(lower: &str) -> bool {
    FETCHES.iter().any(|word| lower.contains(word))
}

/// Whether one of these texts names a folder whose files can be recreated, such as a cache or a build folder.
fn names_recreatable_files(texts: &[String]) -> bool {
    const REMADE: [&str; 5] = [".cache", "tmp", "node_modules", "build", "dist"];
    texts.iter().any(|text| REMADE.iter().any(|name| text.contains(name)))
}

/// Whether code sends a well-known key to a host other than its issuer.
fn sends_key(code: &str) -> bool {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let hosts: Vec<&str> = code
        .split("://")
        .skip(1)
        .filter_map(|rest| rest.split(['/', '"', '\'', '?', ' ', '`']).next())
        .filter(|host| !host.starts_with("localhost") && !host.starts_with("127."))
        .collect();
    let owners = code.split(|c| !is_name(c)).filter_map(secret::key_owner);
    !hosts.is_empty()
        && owners
            .into_iter()
            .any(|owners| !hosts.iter().any(|host| owners.iter().any(|owner| host.contains(owner))))
}

/// Whether code does nothing but print a variable with a well-known key: `print(os.environ["GITHUB_TOKEN"])`.
fn shows_key(code: &str) -> bool {
    const PRINTS: [&str; 6] = ["console.log(", "print(", "puts", "print", "echo", "say"];
    const GETS: [&str; 8] = [
        "process.env.",
        "os.environ[",
        "os.environ.get(",
        "os.getenv(",
        "ENV[",
        "$ENV{",
        "getenv(",
        "$_ENV[",
    ];
    let dense: String = code.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '"')).collect();
    let code = dense.strip_prefix("importos;").unwrap_or(&dense);
    let code = PRINTS.iter().find_map(|print| code.strip_prefix(print)).unwrap_or(code);
    let Some(name) = GETS.iter().find_map(|get| code.strip_prefix(get)) else { return false };
    let name = name.trim_end_matches([')', ']', '}', ';']);
    secret::key_owner(name).is_some()
}

/// The texts in quotes, and lists of them as one: `["rm", "-rf", "/"]`.
fn literals(code: &str) -> Vec<String> {
    const MAX: usize = 64;
    let bytes = code.as_bytes();
    let mut all: Vec<String> = Vec::new();
    let mut list: Vec<String> = Vec::new();
    // Texts that code puts together: `"r" + "m"`.
    let (mut sum, mut parts) = (String::new(), 0);
    let (mut at, mut end_of_last) = (0, 0);
    while at < bytes.len() && all.len() < MAX {
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
        let between = arguments_between(between);
        if !list.is_empty() && (!between.contains(',') || between.chars().any(|c| !is_between(c))) {
            all.extend(joined(&mut list));
        }
        let is_sum = matches!(between.trim(), "" | "+" | "." | ".." | "<>" | "++" | "&" | "~" | "^")
            && end_of_last > 0
            && at >= end_of_last;
        match is_sum {
            true => sum.push_str(&text),
            false => {
                all.extend(finished(&mut sum, &mut parts));
                sum.push_str(&text);
            }
        }
        parts += 1;
        if !text.is_empty() {
            list.push(quoted(&text));
            all.push(text);
        }
        end_of_last = end + 1;
        at = end + 1;
    }
    all.extend(joined(&mut list));
    all.extend(finished(&mut sum, &mut parts));
    all
}

/// What stands between the texts of `new("rm").args(["-rf"])`, as between those of a list.
fn arguments_between(between: &str) -> &str {
    // `new Deno.Command("rm", {args: ["-rf"]})`
    let plain: String = between.chars().filter(|c| !c.is_whitespace()).collect();
    if plain == ",{args:[" {
        return ",";
    }
    let rest = between.trim_start().strip_prefix(')').map(str::trim_start);
    let rest = rest.and_then(|rest| rest.strip_prefix(".args").or_else(|| rest.strip_prefix(".arg")));
    if rest.is_some_and(|rest| rest.chars().all(|c| c.is_whitespace() || matches!(c, '(' | '[' | '&'))) {
        ","
    } else {
        between
    }
}

/// The sum of several string literals; `None` for a single one.
fn finished(sum: &mut String, parts: &mut usize) -> Option<String> {
    let text = std::mem::take(sum);
    (std::mem::take(parts) > 1).then_some(text)
}

/// A character between the texts of one command: `run('git', ['push'])`.
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

/// Stands in for the current folder where that is not known: a relative path resolved in it matches no real file.
pub(super) fn placeholder_folder() -> &'static Path {
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
        assert_eq!(
            literals("new(\"rm\").args([\"-rf\", \"/\"])").last().map(String::as_str),
            Some("rm -rf /")
        );
        assert_eq!(literals("'open"), ["open"]);
        assert_eq!(literals("run('r' + 'm x')"), ["r", "m x", "rm x"]);
    }
}
