//! Words of code that are harmless one by one, and harm together. In code without whitespace and quotes.

/// Code of Ruby without the texts in `%q{…}`, when nothing in the rest of it could run or store them.
pub(super) fn without_plain_texts(code: &str, language: &str) -> String {
    const USES: [&str; 14] = [
        "eval", "system", "exec", "spawn", "popen", "send", "`", "%x", "write", "file", "io.", "open",
        "define", "instance",
    ];
    if !language.starts_with("ruby") || !code.contains("%q") {
        return code.to_owned();
    }
    let mut rest = code;
    let mut outer = String::new();
    while let Some((front, inner)) = rest.split_once("%q") {
        outer.push_str(front);
        let close = match inner.chars().next() {
            Some('{') => '}',
            Some('(') => ')',
            Some('[') => ']',
            _ => return code.to_owned(),
        };
        // The last one: brackets may be in the text.
        let Some(end) = inner.rfind(close) else { return code.to_owned() };
        outer.push_str("text");
        rest = &inner[end + 1..];
    }
    outer.push_str(rest);
    let lower = outer.to_lowercase();
    if USES.iter().any(|word| lower.contains(word)) { code.to_owned() } else { outer }
}

/// Code with all words of one of these groups is dangerous.
const GROUPS: &[&[&str]] = &[
    // A shell with the rights of root, or on a terminal that somebody else has.
    &["setuid(0", "system("],
    &["setuid(0", "exec"],
    &["setuid(0", "spawn"],
    &["pty.spawn(/bin/"],
    &["pty.spawn(sh"],
    &["pty.spawn(bash"],
    &["pty.spawn([/bin/"],
    // Passwords of the person.
    &["keyring.get_password(", "print"],
    &["keyring.get_password(", "request"],
    &["browser_cookie3"],
    // The root folder by another name.
    &["rmtree(os.sep"],
    &["rmtree(os.path.sep"],
    // Ways to functions that go around their names.
    &["function(returnthis)"],
    &["function(returnprocess)"],
    &["constructor.constructor("],
    // Every process.
    &["os.kill(-1"],
    &["process.kill(-1"],
    &["process.kill(9,-1"],
    &["process.kill(kill,-1"],
    &["kill9,-1"],
    &["kill-9,-1"],
    &["os.kill(", "inrange("],
    // The machine itself.
    &["ctypes", "reboot("],
    &["exitwindowsex("],
    // What starts later.
    &["crontab(user", ".write("],
    &["crontab.crontab(", ".write("],
    &["winreg.setvalue"],
    // Archives over the system, or over what the person has.
    &["extractall(/)"],
    &["extractall(path=/)"],
    &["extractall(/etc"],
    &["extractall(/usr"],
    &["extractall(~"],
    &["extractall(os.path.expanduser(~))"],
    &["extractall(path.home())"],
    // What is downloaded goes into a shell.
    &["[curl", "[sh]", "stdin="],
    &["[curl", "[bash]", "stdin="],
    &["[wget", "[sh]", "stdin="],
    &["[wget", "[bash]", "stdin="],
    &["[sh]", "input=", "urlopen("],
    &["[bash]", "input=", "urlopen("],
    &["[sh]", "input=", "requests.get("],
    &["[bash]", "input=", "requests.get("],
    &["run(requests.get("],
    &["call(requests.get("],
    &["check_output(requests.get("],
    &["popen(requests.get("],
    &["system(requests.get("],
    &["run(urllib.request.urlopen("],
    &["system(urllib.request.urlopen("],
    &["urlretrieve(", "system(sh"],
    &["urlretrieve(", "system(bash"],
    &["urlretrieve(", "system(/tmp"],
    &["urlretrieve(", "[sh,"],
    &["urlretrieve(", "[bash,"],
    &["spawn(curl", "spawn(sh"],
    &["spawn(curl", "spawn(bash"],
];

/// Calls that run a text as a command.
const RUNS: [&str; 6] = ["exec(", "execsync(", "system(", "popen(", "subprocess.run(", "check_output("];
/// What somebody else sent.
const SENT: [&str; 6] = [".url", "self.path", "request.args", "req.query", "req.body", "rfile.read("];

/// Whether the code has all words of a group, or runs what it gets from the network.
pub(super) fn harm(dense: &str) -> bool {
    GROUPS.iter().any(|group| group.iter().all(|word| dense.contains(word))) || runs_what_is_sent(dense)
}

/// `exec(req.url.slice(1))`
fn runs_what_is_sent(dense: &str) -> bool {
    const FARTHEST: usize = 40;
    if !SENT.iter().any(|word| dense.contains(word)) {
        return false;
    }
    RUNS.iter().any(|run| {
        dense.match_indices(run).any(|(at, _)| {
            let rest = &dense[at + run.len()..];
            let argument: String =
                rest.chars().take_while(|c| !matches!(c, ',' | ';')).take(FARTHEST).collect();
            SENT.iter().any(|word| argument.contains(word))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::harm;

    #[test]
    fn groups_are_told_from_single_words() {
        for code in
            ["os.setuid(0);os.system(/bin/sh)", "cp.exec(q.url.slice(1),f)", "tarfile.open(x).extractall(/)"]
        {
            assert!(harm(code), "{code}");
        }
        for code in ["t.extractall(out)", "pty.spawn([./app])", "re.exec(x);f(req.url)", "os.kill(pid,15)"] {
            assert!(!harm(code), "{code}");
        }
    }
}
