//! Properties that hold for any line.

use std::path::Path;
use std::time::{Duration, Instant};

use crosier::Decision;
use proptest::prelude::*;

use super::table_tests::{input, rows, rules};
use crate::block_commands;
use crate::guard::Ruling;
use crate::shell::Script;

/// A command that is well formed, of any kind.
fn further() -> impl Strategy<Value = String> {
    let word = "[a-z./_-]{1,8}";
    let simple = prop_oneof![
        Just("ls".to_owned()),
        Just("echo x".to_owned()),
        Just("true".to_owned()),
        Just("cat <(ls)".to_owned()),
        Just("X=1".to_owned()),
        Just("echo 'a;b' \"c&&d\" e\\;f".to_owned()),
        Just("ls > out/x 2>&1".to_owned()),
        Just("cat <<'E'\ntext\nE\ntrue".to_owned()),
        (word, word).prop_map(|(program, argument)| format!("{program} {argument}")),
        word.prop_map(|word| format!("echo \"$({word})\"")),
        word.prop_map(|word| format!("echo ${{{}:-x}}", word.replace(|c: char| !c.is_alphabetic(), "a"))),
    ];
    simple.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}\n{b}")),
            inner.clone().prop_map(|a| format!("( {a}\n)")),
            inner.clone().prop_map(|a| format!("{{ {a}\n}}")),
            inner.clone().prop_map(|a| format!("if {a}\nthen true; fi")),
            inner.clone().prop_map(|a| format!("for i in 1 2; do {a}\ndone")),
            inner.clone().prop_map(|a| format!("f() {{ {a}\n}}")),
            inner.prop_map(|a| format!("case x in x) {a}\n;; esac")),
        ]
    })
}

fn joined() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("; "),
        Just(" && "),
        Just(" || "),
        Just(" | "),
        Just("\n"),
        Just(" & "),
        Just(";"),
        Just("\n\n"),
        Just(" |& ")
    ]
}

/// A line of the table that the rules deny.
fn denied() -> impl Strategy<Value = String> {
    let lines: Vec<String> = rows().into_iter().filter(|row| row.0 == "deny").map(|row| row.2).collect();
    proptest::sample::select(lines)
}

/// A line of the table that block-commands denies.
fn blocked() -> impl Strategy<Value = String> {
    let lines: Vec<String> = rows().into_iter().filter(|row| row.1 == "deny").map(|row| row.2).collect();
    proptest::sample::select(lines)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// A further command, before or after, never makes a denied line allowed; before a line that is well formed it
    /// stays denied.
    #[test]
    fn a_further_command_never_allows_what_is_denied(line in denied(), more in further(), by in joined(), behind in any::<bool>()) {
        let whole = if behind { format!("{line}{by}{more}") } else { format!("{more}{by}{line}") };
        let verdict = rules().decide("Bash", &input(&whole), Path::new("/w"));
        prop_assert_ne!(verdict.decision, Some(Decision::Allow), "{}", whole);
        prop_assert_ne!(verdict.decision, None, "{}", whole);
    }

    /// Whatever stands in front, as long as it is not a comment and does not take the next character away.
    #[test]
    fn no_junk_in_front_allows_what_is_denied(line in denied(), junk in "[^#\\\\]{0,24}", by in joined()) {
        let whole = format!("{junk}{by}{line}");
        let verdict = rules().decide("Bash", &input(&whole), Path::new("/w"));
        prop_assert_ne!(verdict.decision, Some(Decision::Allow), "{}", whole);
    }

    #[test]
    fn no_junk_behind_allows_what_is_denied(line in denied(), junk in any::<String>(), by in joined()) {
        let whole = format!("{line}{by}{junk}");
        let verdict = rules().decide("Bash", &input(&whole), Path::new("/w"));
        prop_assert_ne!(verdict.decision, Some(Decision::Allow), "{}", whole);
    }

    #[test]
    fn a_further_command_never_frees_what_is_blocked(line in blocked(), more in further(), by in joined(), behind in any::<bool>()) {
        let list = block_commands::standard_list();
        let whole = if behind { format!("{line}{by}{more}") } else { format!("{more}{by}{line}") };
        let ruling = block_commands::judge(&list, "Bash", &input(&whole), Path::new("/w"));
        prop_assert!(matches!(ruling, Ruling::Deny(_) | Ruling::Ask(_)), "{}: {:?}", whole, ruling);
    }

    #[test]
    fn the_parser_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Script::parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn the_parser_never_panics_on_what_looks_like_shell(line in "([a-z ]|[$(){}\\[\\]<>|&;`'\"\\\\#!*?~=\n\r\t]|\\$\\(|\\$\\(\\(|<<E|\\$'|case |in |esac|if |do |é|\u{202e}){0,60}") {
        let script = Script::parse(&line);
        prop_assert!(script.doubts.len() <= 16);
    }
}

/// Lines that try to make parsing slow.
fn hard_lines(size: usize) -> Vec<(&'static str, String)> {
    let repeated = |part: &str| part.repeat(size / part.len());
    let mut lines: Vec<(&str, String)> = vec![
        ("one word", repeated("a")),
        ("words", repeated("a ")),
        ("commands", repeated("a;")),
        ("pipes", repeated("a|")),
        ("sudo", repeated("sudo ")),
        ("open $((", repeated("$((")),
        ("open $(", repeated("$(")),
        ("closed $(", repeated("$(a) ")),
        ("open (", repeated("(")),
        ("open {", repeated("{ ")),
        ("braces", repeated("{a,b}")),
        ("open braces", repeated("{")),
        ("commas", format!("{{{}", repeated("a,"))),
        ("open brackets", repeated("[")),
        ("brackets", repeated("[a]")),
        ("backquotes", repeated("`a`")),
        ("open backquotes", repeated("\\`")),
        ("double quotes", repeated("\"a\" ")),
        ("open double", format!("\"{}", repeated("$"))),
        ("here-documents", repeated("<<a ")),
        ("here lines", format!("cat <<E\n{}", repeated("x\n"))),
        ("here joined", format!("cat <<E\n{}", repeated("x\\\n"))),
        ("if", repeated("if a;then ")),
        ("case", repeated("case a in a) ")),
        ("variables", repeated("$a")),
        ("parameters", repeated("${a:-")),
        ("arithmetic", format!("echo $(({}))", repeated("1+"))),
        ("nested arithmetic", repeated("$((1) ")),
        ("find", format!("find {}", repeated("-exec a {} ; "))),
        ("xargs", repeated("xargs ")),
        ("eval", repeated("eval ")),
        ("alias", format!("alias {}", repeated("a=b "))),
        ("functions", repeated("a()")),
        ("conditions", format!("[[ {}", repeated("a && "))),
        ("backslashes", repeated("\\")),
        ("newlines", repeated("\n")),
        ("redirections", repeated(">a ")),
        ("unicode", repeated("é\u{200b}")),
        ("rm", repeated("rm -rf x; ")),
        ("unknown", repeated("$a $b; ")),
        ("cd", repeated("cd a; ")),
    ];
    lines.push(("nested sh", (0..12).fold("rm x".to_owned(), |code, _| format!("sh -c {:?}", code))));
    lines
}

#[test]
fn a_long_line_is_read_in_good_time() {
    // A generous limit for debug builds on a busy machine: only quadratic growth must be caught.
    let rules = rules();
    let list = block_commands::standard_list();
    for (name, line) in hard_lines(128 << 10) {
        let started = Instant::now();
        let verdict = rules.decide("Bash", &input(&line), Path::new("/w"));
        let _ = block_commands::judge(&list, "Bash", &input(&line), Path::new("/w"));
        assert!(started.elapsed() < Duration::from_secs(120), "{name}: {:?}", started.elapsed());
        // Echoing an arithmetic result is harmless.
        assert!(!verdict.is_allowed() || name == "arithmetic", "{name}");
    }
}
