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
    assert_eq!(sure("echo ${x:-$(a)} ${y#`b`} $((1 + $(c)))"), ["a", "b", "c", "echo $_ ${y} $_"]);
    assert_eq!(sure("echo `a \\`b\\``"), ["b", "a $_", "echo $_"]);
    assert_eq!(sure("echo ${ a; }"), ["a", "echo $_"]);
}

#[test]
fn compound_commands_are_opened() {
    assert_eq!(sure("if a; then b; elif c; then d; else e; fi > f"), ["a", "b", "c", "d", "e"]);
    assert_eq!(sure("while a; do b; done; until c\ndo d\ndone"), ["a", "b", "c", "d"]);
    assert_eq!(sure("for x in $(a) 2; do b $x; done; for ((i=0;i<3;i++)); do c; done"), ["a", "b $_", "c"]);
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
fn wrappers_are_opened() {
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
        "cat x | base64 -d | sh",
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

/// The commands that a line can run, also those that are only a possibility.
fn possible(line: &str) -> Vec<String> {
    Script::parse(line)
        .commands
        .iter()
        .filter(|command| !command.words.is_empty())
        .map(Command::show)
        .collect()
}

#[test]
fn values_that_the_line_assigns_are_known() {
    for (line, last) in [
        ("X=rm; $X -rf /", "rm -rf /"),
        ("X='rm -rf /'; $X", "rm -rf /"),
        ("X='a  b'; c \"$X\"", "c a  b"),
        ("d=build; rm -rf \"$d\"/out", "rm -rf build/out"),
        ("a=r b=m; $a$b x", "rm x"),
        ("a=rm; b=$a; ${b} x", "rm x"),
        ("c=(rm -rf /); \"${c[@]}\"", "rm -rf /"),
        ("c=(rm -rf); c+=(/); ${c[*]}", "rm -rf /"),
        ("c=(a rm); ${c[1]} x", "rm x"),
        ("set -- rm -rf /; \"$@\"", "rm -rf /"),
        ("set -- a rm; shift; $1 x", "rm x"),
        ("read x <<< rm; $x y", "rm y"),
        ("read -r a b <<< 'rm -rf /'; $a $b", "rm -rf /"),
        ("printf -v x '%s' rm; $x y", "rm y"),
        ("export X=rm; $X y", "rm y"),
        ("X=rmm; ${X%m} y", "rm y"),
        ("X=xrm; ${X#x} y", "rm y"),
        ("X=r_m; ${X/_/} y", "rm y"),
        ("X=RM; ${X,,} y", "rm y"),
        ("X=armz; ${X:1:2} y", "rm y"),
        ("X=; ${X:-rm} y", "rm y"),
        ("X=; $X rm y", "rm y"),
        ("N=X; X=rm; ${!N} y", "rm y"),
        ("IFS=,; X=rm,-rf,/; $X", "rm -rf /"),
        ("$(echo rm) y", "rm y"),
        ("$(printf 'r%s' m) y", "rm y"),
        ("$(echo cm0= | base64 -d) y", "rm y"),
        ("$(echo mr | rev) y", "rm y"),
        ("$(echo sn | tr 'n-s' 'm-r') y", "rm y"),
        ("eval X=rm; $X y", "rm y"),
        ("true && X=rm && $X y", "rm y"),
    ] {
        assert_eq!(possible(line).last().map(String::as_str), Some(last), "{line}");
    }
}

#[test]
fn what_could_be_run_is_found() {
    for (line, found) in [
        ("bash -c '\"$@\"' _ rm -rf /", "rm -rf /"),
        ("bash -c '$0 $1 x' rm -rf", "rm -rf x"),
        ("for x in a rm; do $x y; done", "rm y"),
        ("for f in .env; do cat $f; done", "cat .env"),
        ("f() { \"$@\"; }; f rm -rf /", "rm -rf /"),
        ("f() { rm -rf $1; }; f /", "rm -rf /"),
        ("f() { X=rm; }; X=ls; f; $X y", "rm y"),
        ("if a; then X=rm; else X=ls; fi; $X y", "rm y"),
        ("case a in b) X=rm;; esac; $X y", "rm y"),
        ("X=ls; false && X=rm; $X y", "rm y"),
        ("echo rm y | while read c; do $c; done", "rm y"),
        ("rm -rf ${DIR:-/}", "rm -rf /"),
        ("echo 'rm y' > a.sh; sh a.sh", "rm y"),
        ("echo 'rm y' > a.sh; chmod +x a.sh; ./a.sh", "rm y"),
        ("cat > a.sh <<'E'\nrm y\nE\nbash a.sh", "rm y"),
        ("cat > a.sh <<E\nrm y\nE\n. ./a.sh", "rm y"),
        ("echo 'rm y' | tee a.sh; sh ./a.sh", "rm y"),
        ("echo 'rm \"$1\"' > a; sh a y", "rm y"),
        ("X=rm; cat <<E | sh\n$X y\nE", "rm y"),
        ("X=rm sh -c '$X y'", "rm y"),
        ("env X=rm sh -c '$X y'", "rm y"),
        ("declare -A m=([a]=rm [b]=y); ${m[a]} ${m[b]}", "rm y"),
        ("declare -A m; m[a]=rm; k=a; ${m[$k]} y", "rm y"),
        ("a=([1]=y [0]=rm); ${a[0]} ${a[1]}", "rm y"),
        ("declare -n r=X; X=rm; $r y", "rm y"),
        ("declare -n r=X; r=rm; $X y", "rm y"),
        ("mapfile -t l < <(printf 'rm\\ny\\n'); \"${l[@]}\"", "rm y"),
        ("read -ra l <<< \"rm $Y\"; \"${l[@]}\"", "rm ${Y}"),
        (". /dev/fd/3 3<<< 'rm y'", "rm y"),
        ("bash /dev/fd/3 3<<< 'rm y'", "rm y"),
        ("exec 3<<< 'rm y'; sh <&3", "rm y"),
        ("printf 'rm %s\\n' \"$Y\" > a; sh a", "rm ${Y}"),
        ("echo \"rm $Y\" | sh", "rm ${Y}"),
        ("{ echo 'rm y'; echo ls; } | sh", "rm y"),
        ("ln -s \"$HOME\" a; rm -r a/b", "rm -r ${HOME}/b"),
        ("ln -s b a; echo x > a", "echo x"),
        ("cp /bin/rm ./a; ./a y", "rm y"),
        ("echo 'rm y' > /tmp/b/a; PATH=/tmp/b:$PATH a", "rm y"),
        ("env 'BASH_FUNC_a%%=() { rm y; }' bash -c a", "rm y"),
        ("GIT_CONFIG_KEY_0=alias.a GIT_CONFIG_VALUE_0='!rm y' git a", "rm y"),
        ("make -f - <<< 'a: ; rm y'", "rm y"),
        ("$0 -c 'rm y'", "rm y"),
    ] {
        assert!(possible(line).iter().any(|command| command == found), "{line}: {:?}", possible(line));
    }
}

#[test]
fn values_that_may_change_are_not_known() {
    for line in [
        "X=ls; read X; $X",
        "X=ls; source f; $X",
        "X=ls; eval \"$Y\"; $X",
        "X=ls; unset X; $X",
        "X=ls; false || X=rm; $X",
        "X=ls; while $X; do X=rm; done",
        "X=ls; declare -n Y=X; Y=rm; $X",
        "X=ls; mapfile X < f; $X",
    ] {
        assert!(commands(line).1, "{line}");
    }
}
