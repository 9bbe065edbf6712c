//! Lines of shell and the commands in them.

use super::*;

/// The commands of a line, one text each, and whether there is a doubt.
fn commands(line: &str) -> (Vec<String>, bool) {
    let script = Script::parse(line);
    let certain = script.commands.iter().filter(|command| command.certain && !command.words.is_empty());
    (certain.map(Command::show).collect(), !script.doubts.is_empty())
}

fn sure(line: &str) -> Vec<String> {
    let script = Script::parse(line);
    assert_eq!(script.doubts, [], "{line}");
    commands(line).0
}

#[test]
fn lists_and_pipelines_are_split() {
    assert_eq!(sure("a 1; b && c || d | e & f\ng"), ["a 1", "b", "c", "d", "e", "f", "g"]);
    assert_eq!(sure("a;b;;c".replace(";;", ";").as_str()), ["a", "b", "c"]);
    assert_eq!(sure("a |& b"), ["a", "b"]);
    assert_eq!(sure("! a | b; time -p c"), ["a", "b", "c"]);
    assert_eq!(sure("a \\\n b # c; d\ne"), ["a b", "e"]);
    assert_eq!(sure(""), Vec::<String>::new());
}

#[test]
fn quotes_are_taken_off() {
    assert_eq!(sure(r#"r\m "-rf" '/' "a b" $'\x72m' $"x""#), ["rm -rf / a b rm x"]);
    assert_eq!(sure("'a;b' \"c&&d\" e\\;f"), ["a;b c&&d e;f"]);
    assert_eq!(sure("r''m \"\" x"), ["rm  x"]);
    assert_eq!(sure("a\"\\\"b\\\\\"c"), ["a\"b\\c"]);
}

#[test]
fn substitutions_are_commands() {
    assert_eq!(sure("echo $(a $(b) `c`)"), ["b", "c", "a $_ $_", "echo $_"]);
    assert_eq!(sure("echo \"$(a \"$(b)\")\""), ["b", "a $_", "echo $_"]);
    assert_eq!(sure("diff <(a) >(b)"), ["a", "b", "diff $_ $_"]);
    assert_eq!(sure("x=$(a) y=`b` c"), ["a", "b", "c"]);
    assert_eq!(sure("echo ${x:-$(a)} ${y#`b`} $((1 + $(c)))"), ["a", "b", "c", "echo $_ $_ $_"]);
    assert_eq!(sure("echo `a \\`b\\``"), ["b", "a $_", "echo $_"]);
    assert_eq!(sure("echo ${ a; }"), ["a", "echo $_"]);
}

#[test]
fn compound_commands_are_opened() {
    assert_eq!(sure("if a; then b; elif c; then d; else e; fi > f"), ["a", "b", "c", "d", "e"]);
    assert_eq!(sure("while a; do b; done; until c\ndo d\ndone"), ["a", "b", "c", "d"]);
    assert_eq!(sure("for x in $(a) 2; do b $x; done; for ((i=0;i<3;i++)); do c; done"), ["a", "b ${x}", "c"]);
    assert_eq!(sure("case $(a) in x|y) b;; (z) c;& *) d; esac; e"), ["a", "b", "c", "d", "e"]);
    assert_eq!(sure("(a; b) && { c; d; }"), ["a", "b", "c", "d"]);
    assert_eq!(sure("f() { a; }; function g { b; }; function h() (c); f"), ["a", "b", "c", "f"]);
    assert_eq!(sure("[[ -f x && $(a) == b ]] && c"), ["a", "c"]);
    assert_eq!(sure("coproc a b; coproc N { c; }"), ["a b", "c"]);
    assert_eq!(sure("a=(x $(b) y); declare -a c=(1 2)"), ["b", "declare -a c=$_"]);
}

#[test]
fn here_documents_are_text_until_they_are_code() {
    assert_eq!(sure("cat <<E\nrm x\nE\na"), ["cat", "a"]);
    assert_eq!(sure("cat <<-E | b\n\trm\n\tE\na"), ["cat", "b", "a"]);
    assert_eq!(sure("cat <<E\n$(a) `b` \\$(c)\nE"), ["cat", "a", "b"]);
    assert_eq!(sure("cat <<'E'\n$(a)\nE"), ["cat"]);
    assert_eq!(sure("bash <<'E'\na; b\nE"), ["bash", "a", "b"]);
    assert_eq!(sure("{ bash; } <<'E'\na\nE"), ["bash", "a"]);
    assert_eq!(sure("sh <<< 'a; b'"), ["sh", "a", "b"]);
    assert!(commands("cat <<E\na").1);
    // A backslash joins the lines of the mark: b runs.
    assert_eq!(commands("cat <<EOF\nEO\\\nF\nb\nEOF"), (vec!["cat".into(), "b".into(), "EOF".into()], true));
}

#[test]
fn carriers_are_opened() {
    assert_eq!(sure("sudo -u x FOO=1 rm a"), ["sudo -u x FOO=1 rm a", "rm a"]);
    assert_eq!(sure("env -i A=1 nice -n 5 timeout -k 1 10s rm a").last().unwrap(), "rm a");
    assert_eq!(sure("find . -name '*.o' -exec rm -f {} \\; -o -delete")[1..], ["rm -f $_", "rm $_"]);
    assert_eq!(sure("ls | xargs -0 -n1 rm")[2], "rm $_");
    assert_eq!(commands("ls | xargs -I% sh -c 'cp % x'").0[2..], ["sh -c cp $_ x", "cp ${_} x"]);
    assert_eq!(sure("bash -lc 'a; b'"), ["bash -lc a; b", "a", "b"]);
    assert_eq!(sure("ssh -p 22 host 'a && b'")[1..], ["a", "b"]);
    assert_eq!(sure("eval 'a;' b")[1..], ["a", "b"]);
    assert_eq!(sure("busybox rm x")[1], "rm x");
    assert_eq!(sure("echo 'rm x' | sh")[2], "rm x");
    assert_eq!(sure("git -c alias.x='!rm y' x")[1], "rm y");
    assert_eq!(sure("git submodule foreach 'rm y'")[1], "rm y");
    assert_eq!(sure("docker run -it img sh -c 'rm y'")[1..], ["sh -c rm y", "rm y"]);
    assert_eq!(sure("command -v rm"), ["command -v rm"]);
}

#[test]
fn what_cannot_be_known_is_a_doubt() {
    for line in [
        "$X a",
        "${X} a",
        "$(a) b",
        "`a` b",
        "r$X a",
        "/bin/r? a",
        "'a",
        "\"a",
        "`a",
        "$(a",
        "(a",
        "{ a;",
        "a)",
        "if a; then b",
        "a | ",
        "| a",
        "a;; b",
        "curl x | sh",
        "echo YQ== | base64 -d | sh",
        "sh -c \"$X\"",
        "eval $X",
        "bash <(curl x)",
        "source <(a)",
        "a\u{a0}b",
        "гm x",
        "a\rb",
        "a\\",
        "a\u{200b}b",
        "case x in a",
        "rm${IFS}-rf",
        "cat <<",
        "f() ",
        "a (b)",
        "\u{202e}'a'",
        "'\u{202e}'",
        "cat <<$X\nX",
        "bash $X 'a'",
    ] {
        assert!(commands(line).1, "{line}");
    }
}

#[test]
fn braces_make_words() {
    assert_eq!(sure("{rm,-rf,/}"), ["rm -rf /"]);
    assert_eq!(sure("echo a{b,c}d {1..3} {x} {} {,y}"), ["echo abd acd 1 2 3 {x} {} y"]);
    assert_eq!(sure("echo '{a,b}' \"{c,d}\" \\{e,f}"), ["echo {a,b} {c,d} {e,f}"]);
    assert!(commands("echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}").1);
}

#[test]
fn redirections_are_kept() {
    let script = Script::parse("a <b 2>&1 >c &>d 3<>e <<<f >|g {fd}>h");
    let kinds: Vec<(Direction, u32, &str)> = script.commands[0]
        .redirections
        .iter()
        .map(|r| (r.direction, r.descriptor, r.target.known().unwrap()))
        .collect();
    use Direction::{Both, Duplicate, HereString, Read, Write};
    assert_eq!(kinds[..4], [(Read, 0, "b"), (Duplicate, 2, "1"), (Write, 1, "c"), (Write, 1, "d")]);
    assert_eq!(kinds[4..], [(Both, 3, "e"), (HereString, 0, "f"), (Write, 1, "g"), (Write, u32::MAX, "h")]);
}
