//! The parser against real shells: each command that bash or dash really runs was found by the parser, or doubted.
//!
//! Lines are generated from a seed and harmless words: every program in `PATH` is a recorder that
//! writes down its name and its arguments, and the only files are in a temporary folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command as Process, Stdio};

use super::*;
use crate::token::{meets, of_text, of_word};

const LINES: usize = 600;
const PROGRAMS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

/// A small random number generator; the same seed makes the same lines.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }
}

fn word(dice: &mut Dice) -> String {
    match dice.roll(16) {
        0 => "'a b'".to_owned(),
        1 => "\"$X\"".to_owned(),
        2 => "$X".to_owned(),
        3 => "\"$@\"".to_owned(),
        4 => "$1".to_owned(),
        5 => "${Y:-d}".to_owned(),
        6 => "${X#a}".to_owned(),
        7 => "${X%?}".to_owned(),
        8 => "$(echo e f)".to_owned(),
        9 => "\"$(printf '%s' g)\"".to_owned(),
        10 => "x\\ y".to_owned(),
        11 => "\"${Z}\"tail".to_owned(),
        12 => "`echo h`".to_owned(),
        _ => dice.one(&["1", "two", "-n", "--x=y", "''"]).to_owned(),
    }
}

fn program(dice: &mut Dice) -> String {
    match dice.roll(14) {
        0 => "$P".to_owned(),
        10 => "${M[k]}".to_owned(),
        11 => "$R".to_owned(),
        12 => "\"${L[@]}\"".to_owned(),
        13 => "${L[0]}".to_owned(),
        1 => "\"$P\"".to_owned(),
        2 => "$(echo beta)".to_owned(),
        3 => "al''pha".to_owned(),
        4 => "\\gamma".to_owned(),
        _ => dice.one(&PROGRAMS).to_owned(),
    }
}

fn simple(dice: &mut Dice) -> String {
    let mut line = program(dice);
    for _ in 0..dice.roll(3) {
        line.push(' ');
        line.push_str(&word(dice));
    }
    line
}

fn assignment(dice: &mut Dice) -> String {
    match dice.roll(17) {
        9 => "declare -A M=([k]=beta [l]='a b')".to_owned(),
        10 => "declare -A M; M[k]=gamma".to_owned(),
        11 => "M[k]=delta".to_owned(),
        12 => "declare -n R=P".to_owned(),
        13 => "mapfile -t L <<< alpha".to_owned(),
        14 => "read -ra L <<< \"beta $X 1\"".to_owned(),
        15 => "L=([1]=2 [0]=gamma)".to_owned(),
        16 => "R=beta".to_owned(),
        0 => "P=beta".to_owned(),
        1 => "P=$(echo gamma)".to_owned(),
        2 => "X='a b'".to_owned(),
        3 => "X=ab; Z=$X".to_owned(),
        4 => "Y=".to_owned(),
        5 => "set -- alpha beta".to_owned(),
        6 => "export P=delta".to_owned(),
        7 => "unset X".to_owned(),
        _ => "Z=\"$Y$X\"".to_owned(),
    }
}

fn line(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return if dice.roll(3) == 0 { assignment(dice) } else { simple(dice) };
    }
    let mut inner = || line(dice, depth - 1);
    let (a, b) = (inner(), inner());
    match dice.roll(22) {
        17 => format!(". /dev/fd/3 3<<< {}; {b}", quoted(&a)),
        18 => format!("sh /dev/fd/3 3<<< {}; {b}", quoted(&a)),
        19 => format!("exec 4<<< {}; sh <&4; {b}", quoted(&a)),
        20 => format!("{{ echo {}; echo {}; }} | sh", quoted(&a), quoted(&b)),
        0 => format!("{a}; {b}"),
        1 => format!("{a} && {b}"),
        2 => format!("{a} || {b}"),
        3 => format!("{a}\n{b}"),
        4 => format!("if true; then {a}; else {b}; fi"),
        5 => format!("if alpha; then {a}; fi; {b}"),
        6 => format!("for P in beta gamma; do {a}; done; {b}"),
        7 => format!("for X in 1 '2 3'; do {a}; done"),
        8 => format!("({a}); {b}"),
        9 => format!("{{ {a}; }}; {b}"),
        10 => format!("case $X in ab) {a};; *) {b};; esac"),
        11 => format!("f() {{ {a}; }}; f beta 2; {b}"),
        12 => format!("eval {}; {b}", quoted(&a)),
        13 => format!("sh -c {} _ gamma 3; {b}", quoted(&a)),
        14 => format!("echo {} | sh; {b}", quoted(&a)),
        15 => format!("sh <<'E'\n{a}\nE\n{b}"),
        16 => format!("printf '%s\\n' {} > s.sh; sh s.sh beta; {b}", quoted(&a)),
        _ => format!("P=gamma; {a} | {b}"),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Runs a line; the commands that ran, one list of words each.
fn run(shell: &str, line: &str, folder: &Path) -> Option<Vec<Vec<String>>> {
    let record = folder.join("record");
    let work = folder.join("work");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work).unwrap();
    fs::write(&record, "").unwrap();
    let status = Process::new(shell)
        .args(["-c", line])
        .current_dir(&work)
        .env_clear()
        .env("PATH", folder.join("bin"))
        .env("RECORD", &record)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.ok()?;
    let text = fs::read_to_string(&record).unwrap();
    let commands = text.split('\u{1e}').filter(|command| !command.is_empty());
    Some(commands.map(|command| command.split('\u{1f}').map(str::to_owned).collect()).collect())
}

/// Whether a command of the script can be these words.
fn sees(script: &Script, ran: &[String]) -> bool {
    script.commands.iter().any(|command| {
        let fits = |(word, text): (&Word, &String)| meets(&of_word(word), &of_text(text));
        let open = command.words.iter().position(Word::may_split);
        match open {
            Some(open) => command.words.iter().take(open).zip(ran).all(fits) && ran.len() >= open,
            None => command.words.len() == ran.len() && command.words.iter().zip(ran).all(fits),
        }
    })
}

#[test]
fn what_a_shell_runs_was_seen_or_doubted() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    // A single write each: both ends of a pipe record at the same time.
    let recorder =
        "#!/bin/sh\nr=${0##*/}\nfor a do r=\"$r\u{1f}$a\"; done\nprintf '%s\u{1e}' \"$r\" >> \"$RECORD\"\n";
    for name in PROGRAMS {
        fs::write(bin.join(name), recorder).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink("/bin/sh", bin.join("sh")).unwrap();
    let shells: Vec<&str> =
        ["/bin/bash", "/bin/dash"].into_iter().filter(|shell| Path::new(shell).exists()).collect();
    assert!(!shells.is_empty(), "no shell to compare with");
    let mut dice = Dice(20_260_101);
    let (mut wrong, mut count, mut clear) = (Vec::new(), 0, 0);
    for number in 0..LINES {
        let line = line(&mut dice, 1 + number % 3);
        let script = Script::parse(&line);
        for shell in &shells {
            for ran in run(shell, &line, folder.path()).unwrap_or_default() {
                count += 1;
                clear += usize::from(script.doubts.is_empty());
                if script.doubts.is_empty() && !sees(&script, &ran) {
                    wrong.push(format!("{shell} ran {ran:?} of\n{line}"));
                }
            }
        }
    }
    println!("{count} commands ran, {clear} of them in lines without a doubt");
    assert!(count > LINES && clear > LINES / 2, "only {count} commands ran, {clear} without a doubt");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n\n"));
}
