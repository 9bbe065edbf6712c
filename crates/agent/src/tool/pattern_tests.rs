use super::*;

#[track_caller]
fn glob(pattern: &str, matching: &[&str], others: &[&str]) {
    let compiled = PathPattern::new(pattern).unwrap();
    for path in matching {
        assert!(compiled.matches(path), "{pattern} should match {path}");
    }
    for path in others {
        assert!(!compiled.matches(path), "{pattern} should not match {path}");
    }
}

#[test]
fn a_pattern_without_a_slash_is_about_names_at_any_depth() {
    glob("*.rs", &["a.rs", "src/a.rs", "a/b/c.rs", ".rs"], &["a.rsx", "a.rs/b"]);
    glob("Cargo.toml", &["Cargo.toml", "x/Cargo.toml"], &["Cargo.tomls", "xCargo.toml"]);
}

#[test]
fn a_pattern_with_a_slash_is_about_the_path() {
    glob("src/*.rs", &["src/a.rs"], &["src/x/a.rs", "y/src/a.rs"]);
    glob("./src/*.rs", &["src/a.rs"], &["a.rs"]);
    glob("/a.rs", &["a.rs"], &["src/a.rs"]);
    glob("src/**/*.rs", &["src/a.rs", "src/x/y/a.rs"], &["srcs/a.rs", "a.rs"]);
    glob("**/a.rs", &["a.rs", "x/a.rs"], &["xa.rs"]);
    glob("src/**", &["src/a", "src/x/y"], &["src"]);
    glob("a**b/c", &["axxb/c"], &["a/b/c"]);
}

#[test]
fn single_characters_classes_and_braces() {
    glob("a?.rs", &["ab.rs", "a\u{e4}.rs"], &["a.rs", "a/.rs"]);
    glob("[a-c].rs", &["a.rs", "c.rs"], &["d.rs", "-.rs"]);
    glob("[!a-c].rs", &["d.rs"], &["a.rs"]);
    glob("x[!a]y", &["xby"], &["x/y"]);
    glob("[]].rs", &["].rs"], &["[.rs"]);
    glob("*.{rs,toml}", &["a.rs", "x/b.toml"], &["a.md"]);
    glob("{a,b/{c,d}}.x", &["a.x", "b/c.x", "b/d.x"], &["b/a.x"]);
    glob("\\*.rs", &["*.rs"], &["a.rs"]);
    glob("a+(b).rs", &["a+(b).rs"], &["aab.rs"]);
}

#[test]
fn patterns_that_are_none_are_refused() {
    for (pattern, why) in [
        ("", "is empty"),
        ("/", "is empty"),
        ("[a", "without its `]`"),
        ("{a,b", "without its `}`"),
        ("a\\", "ends in a `\\`"),
        ("[z-a]", "an invalid range"),
    ] {
        let error = PathPattern::new(pattern).unwrap_err();
        assert!(error.contains(why), "{pattern}: {error}");
    }
}

#[test]
fn gitignore_lines_mean_what_git_means() {
    let text = "# note\n\n*.log\n!keep.log\n/root.txt\nbuild/\ndoc/*.html\n**/tmp\nspaced\\ \nopen[\nback\\#slash   \n";
    let ignores = Ignores::read(text).unwrap();
    let ignored = |path: &str, is_folder| ignores.consult(path, is_folder) == Some(Verdict::Ignored);
    for path in
        ["a.log", "x/a.log", "root.txt", "doc/a.html", "tmp", "a/tmp", "spaced ", "open[", "back#slash"]
    {
        assert!(ignored(path, false), "{path}");
    }
    for path in ["keep.log", "x/root.txt", "build", "doc/x/a.html", "a/doc/b.html", "# note", "spaced"] {
        assert!(!ignored(path, false), "{path}");
    }
    assert!(ignored("build", true));
    assert!(ignored("x/build", true));
    assert_eq!(ignores.consult("x/keep.log", false), Some(Verdict::Kept));
    assert_eq!(ignores.consult("a.rs", false), None);
}
