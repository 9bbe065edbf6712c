//! The file tools, on real files.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crosier::Json;
use crosier_agent::tool::{Bash, Read, Risk, ToolContext, ToolError, ToolSet, Workspace};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A workspace with all tools.
pub(crate) struct Lab {
    pub(crate) folder: TempDir,
    pub(crate) tools: ToolSet,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let environment = vec![("PATH".into(), "/usr/bin:/bin".into()), ("GREETING".into(), "hello".into())];
        Self { folder: TempDir::new().unwrap(), tools: ToolSet::standard(Bash::new(environment)) }
    }

    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join(path)).unwrap()
    }

    pub(crate) fn context(&self) -> ToolContext {
        ToolContext::new(self.folder.path(), Duration::from_secs(20))
    }

    pub(crate) async fn run(&self, tool: &str, input: Value) -> Result<Json, ToolError> {
        self.tools.get(tool).unwrap().run(&Json::from(input), &self.context()).await
    }

    pub(crate) async fn ok(&self, tool: &str, input: Value) -> String {
        self.run(tool, input).await.unwrap().plain().into_owned()
    }

    pub(crate) async fn error(&self, tool: &str, input: Value) -> String {
        self.run(tool, input).await.unwrap_err().message
    }
}

#[tokio::test]
async fn read_numbers_lines_and_refuses_what_is_not_text() {
    let lab = Lab::new();
    lab.file("src/a.rs", "one\ntwo\nthree\n");
    assert_eq!(
        lab.ok("Read", json!({"path": "src/a.rs", "offset": 2, "limit": 1})).await,
        "     2\ttwo\n[lines 2 to 2 of 3; go on with offset 3]"
    );
    let absolute = lab.folder.path().join("src/a.rs");
    assert!(lab.ok("Read", json!({"path": absolute})).await.starts_with("     1\tone\n"));
    lab.file("image.png", b"\x89PNG\r\n\x1a\n\xff\xfe");
    assert_eq!(
        lab.error("Read", json!({"path": "image.png"})).await,
        "`image.png` is not UTF-8 text (a binary file?)"
    );
    assert_eq!(lab.error("Read", json!({"path": "src"})).await, "`src` is a folder, not a file");
    assert_eq!(lab.error("Read", json!({"path": "gone"})).await, "`gone` does not exist");
    assert_eq!(
        lab.error("Read", json!({"path": "src/a.rs/x"})).await.split(" is ").next(),
        Some("`src/a.rs/x`")
    );
    assert_eq!(
        lab.error("Read", json!({"path": "src/a.rs", "offset": 9})).await,
        "the file has 3 lines; there is no line 9"
    );
}

#[tokio::test]
async fn read_refuses_a_file_over_the_limit_and_a_pipe_without_waiting() {
    let lab = Lab::new();
    let big = fs::File::create(lab.folder.path().join("big")).unwrap();
    big.set_len(10 * 1024 * 1024 + 1).unwrap();
    assert_eq!(
        lab.error("Read", json!({"path": "big"})).await,
        "`big` is too large: 10485761 bytes, the limit is 10485760"
    );
    let made = Command::new("mkfifo").args(["-m", "600"]).arg(lab.folder.path().join("pipe")).status();
    assert!(made.unwrap().success());
    assert_eq!(lab.error("Read", json!({"path": "pipe"})).await, "`pipe` is a pipe, not a file");
}

#[tokio::test]
async fn write_plans_and_writes() {
    let lab = Lab::new();
    let write = lab.tools.get("Write").unwrap();
    assert_eq!(write.risk(), Risk::Edit);
    let input = Json::from(json!({"path": "./new/deep/a.txt", "content": "x\ny\n"}));
    let planned = write.write(&input, &lab.context()).unwrap().unwrap();
    assert_eq!((planned.path.as_str(), planned.content.as_str()), ("new/deep/a.txt", "x\ny\n"));
    assert!(!lab.folder.path().join("new").exists(), "a plan changes nothing");
    let report = write.run(&input, &lab.context()).await.unwrap();
    assert_eq!(report.plain(), "wrote new/deep/a.txt: 2 lines, 4 bytes");
    assert_eq!(lab.text("new/deep/a.txt"), "x\ny\n");
    let left: Vec<_> = fs::read_dir(lab.folder.path().join("new/deep")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left beside the file");
}

#[tokio::test]
async fn edit_needs_exactly_one_place() {
    let lab = Lab::new();
    lab.file("a.txt", "b a b\n");
    let error = lab.error("Edit", json!({"path": "a.txt", "old": "b", "new": "c"})).await;
    assert_eq!(error, "`a.txt` contains `old` 2 times; add lines around it until it is unique, or set `all`");
    let edit = lab.tools.get("Edit").unwrap();
    let input = Json::from(json!({"path": "a.txt", "old": "b", "new": "c", "all": true}));
    let planned = edit.write(&input, &lab.context()).unwrap().unwrap();
    assert_eq!(planned.content, "c a c\n");
    assert_eq!(planned.report, "edited a.txt: replaced 2 places");
    assert_eq!(
        lab.ok("Edit", json!({"path": "a.txt", "old": "a", "new": ""})).await,
        "edited a.txt: replaced 1 place"
    );
    assert_eq!(lab.text("a.txt"), "b  b\n");
    assert_eq!(
        lab.error("Edit", json!({"path": "z.txt", "old": "a", "new": ""})).await,
        "`z.txt` does not exist"
    );
    assert_eq!(lab.error("Edit", json!({"path": "a.txt", "old": "a"})).await, "the input needs `new`");
}

#[tokio::test]
async fn glob_lists_by_name_without_what_git_ignores() {
    let lab = Lab::new();
    for path in
        ["src/b.rs", "src/a.rs", "src/x/c.rs", "target/d.rs", ".git/e.rs", "README.md", "src/gen/f.rs"]
    {
        lab.file(path, "");
    }
    lab.file(".gitignore", "/target\n");
    lab.file("src/.gitignore", "gen/\n");
    std::os::unix::fs::symlink("src", lab.folder.path().join("link")).unwrap();
    assert_eq!(lab.ok("Glob", json!({"pattern": "*.rs"})).await, "src/a.rs\nsrc/b.rs\nsrc/x/c.rs");
    assert_eq!(lab.ok("Glob", json!({"pattern": "src/*.rs"})).await, "src/a.rs\nsrc/b.rs");
    assert_eq!(lab.ok("Glob", json!({"pattern": "*.rs", "path": "src/x"})).await, "src/x/c.rs");
    assert_eq!(lab.ok("Glob", json!({"pattern": "f.rs", "path": "src"})).await, "[no files match]");
    assert_eq!(lab.ok("Glob", json!({"pattern": "*.zig"})).await, "[no files match]");
    assert_eq!(
        lab.error("Glob", json!({"pattern": "[a"})).await,
        "the pattern `[a` has a `[` without its `]`"
    );
    assert_eq!(lab.error("Glob", json!({"pattern": "*", "path": "gone"})).await, "`gone` does not exist");
}

#[tokio::test]
async fn glob_and_grep_say_when_there_is_more() {
    let lab = Lab::new();
    for number in 0..1100 {
        lab.file(&format!("f{number:04}"), "x\n");
    }
    let files = lab.ok("Glob", json!({"pattern": "f*"})).await;
    assert!(
        files.ends_with("f0999\n[only the first 1000 files; narrow the pattern]"),
        "{}",
        &files[files.len() - 99..]
    );
    let lines = lab.ok("Grep", json!({"pattern": "x", "limit": 2})).await;
    assert_eq!(lines, "f0000:1: x\nf0001:1: x\n[there are more; narrow the pattern or raise the limit]");
}

#[tokio::test]
async fn grep_finds_lines_in_text_files() {
    let lab = Lab::new();
    lab.file("a.rs", "fn main() {}\nfn other() {}\n");
    lab.file("b.md", "FN in prose\n");
    lab.file("c.bin", b"fn \x00 main");
    lab.file("d.latin1", b"fn \xe4");
    lab.file("x/.gitignore", "*.log\n");
    lab.file("x/y.log", "fn");
    assert_eq!(
        lab.ok("Grep", json!({"pattern": "^fn \\w+"})).await,
        "a.rs:1: fn main() {}\na.rs:2: fn other() {}\n"
    );
    assert_eq!(
        lab.ok("Grep", json!({"pattern": "fn", "glob": "*.md", "ignore_case": true})).await,
        "b.md:1: FN in prose\n"
    );
    assert_eq!(lab.ok("Grep", json!({"pattern": "other", "path": "a.rs"})).await, "a.rs:2: fn other() {}\n");
    assert_eq!(lab.ok("Grep", json!({"pattern": "zzz"})).await, "[no lines match]");
    let error = lab.error("Grep", json!({"pattern": "("})).await;
    assert!(error.starts_with("the pattern is not a regular expression"), "{error}");
    let error = lab.error("Grep", json!({"pattern": "x{1000}{1000}{1000}"})).await;
    assert!(error.starts_with("the pattern is not a regular expression"), "{error}");
    assert_eq!(
        lab.error("Grep", json!({"pattern": "x", "path": "d.latin1"})).await,
        "`d.latin1` is not UTF-8 text (a binary file?)"
    );
}

#[tokio::test]
async fn grep_without_backtracking_ends_on_a_nasty_pattern() {
    let lab = Lab::new();
    lab.file("a", "a".repeat(100_000));
    assert_eq!(lab.ok("Grep", json!({"pattern": "(a|aa)+$b"})).await, "[no lines match]");
}

#[tokio::test]
async fn inputs_that_hooks_could_have_read_otherwise_are_refused() {
    let lab = Lab::new();
    lab.file("a", "x");
    let twice = Json::parse(r#"{"path":"a","path":"b"}"#).unwrap();
    let error = lab.tools.get("Read").unwrap().run(&twice, &lab.context()).await.unwrap_err();
    assert_eq!(error.message, "the key `path` appears twice in the input");
    assert_eq!(
        lab.error("Read", json!({"path": "a", "file_path": "b"})).await,
        "the key `path` appears twice in the input",
        "`file_path` is another name of the same field"
    );
    assert_eq!(
        lab.error("Read", json!({"path": "a", "fiel": "b"})).await,
        "unknown key `fiel` in the input; there are `path`, `offset`, `limit`"
    );
    for tool in ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "Task"] {
        assert!(lab.error(tool, json!([1])).await.contains("must be an object"), "{tool}");
        assert!(lab.error(tool, json!({})).await.contains("the input needs"), "{tool}");
    }
}

#[tokio::test]
async fn a_missing_workspace_is_an_error_for_every_tool() {
    let lab = Lab::new();
    let context = ToolContext::new("/nonexistent/place", Duration::from_secs(5));
    for (tool, input) in [
        ("Bash", json!({"command": "true"})),
        ("Read", json!({"path": "a"})),
        ("Write", json!({"path": "a", "content": ""})),
        ("Glob", json!({"pattern": "*"})),
        ("Grep", json!({"pattern": "x"})),
    ] {
        let error = lab.tools.get(tool).unwrap().run(&Json::from(input), &context).await.unwrap_err();
        assert!(error.message.contains("/nonexistent/place"), "{tool}: {error}");
    }
}

#[test]
fn a_set_keeps_order_and_refuses_a_second_tool_of_a_name() {
    let mut tools = ToolSet::standard(Bash::new(Vec::new()));
    let names = |tools: &ToolSet| tools.specs().into_iter().map(|spec| spec.name).collect::<Vec<_>>();
    assert_eq!(names(&tools), ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "Task"]);
    let error = tools.add(Arc::new(Read::new())).unwrap_err();
    assert_eq!(error.to_string(), "there is already a tool with the name `Read`");
    assert_eq!(
        names(&tools.only(|name| name != "Bash" && name != "Edit")),
        ["Read", "Write", "Glob", "Grep", "Task"]
    );
    for spec in tools.specs() {
        assert!(spec.input_schema.get("properties").is_some(), "{}", spec.name);
    }
}

#[test]
fn the_root_of_a_workspace_is_without_symlinks() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    let workspace = Workspace::open(&folder.path().join("link")).unwrap();
    assert!(workspace.root().ends_with(Path::new("real")));
    let through_link = folder.path().join("link/a");
    assert_eq!(workspace.relative(through_link.to_str().unwrap()).unwrap(), "a");
}
