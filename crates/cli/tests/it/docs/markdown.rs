//! The fenced blocks of a Markdown text.

/// One fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The first word after the fence: `yaml`, `console`.
    pub(super) language: String,
    /// What else stands there: `reply=PreToolUse`.
    pub(super) mark: String,
    /// The file that the block is: the line before the fence ends with its name in backticks and a colon.
    pub(super) file: Option<String>,
    pub(super) text: String,
    /// Where it begins, counted from 1.
    pub(super) line: usize,
}

/// Every block, in order.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut before = "";
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else {
            if !line.trim().is_empty() {
                before = line;
            }
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let (language, mark) = info.trim().split_once(' ').unwrap_or((info.trim(), ""));
        let mut body = String::new();
        for (_, line) in lines.by_ref() {
            if line.trim() == "```" {
                break;
            }
            body.push_str(line.get(indent..).unwrap_or_default());
            body.push('\n');
        }
        blocks.push(Block {
            language: language.to_owned(),
            mark: mark.trim().to_owned(),
            file: named(before),
            text: body,
            line: at + 1,
        });
        before = "";
    }
    blocks
}

/// "…, `crosier.yaml`:" names a file.
fn named(line: &str) -> Option<String> {
    let name = line.trim_end().strip_suffix("`:")?.rsplit('`').next()?;
    (!name.is_empty() && !name.contains(' ')).then(|| name.to_owned())
}

/// Where the links inside the repository lead: a file (empty: the same one) and an anchor (empty: its top).
pub(super) fn links(text: &str) -> Vec<(String, String)> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let own = targets.filter(|target| !target.contains("://"));
    own.map(|target| target.split_once('#').unwrap_or((target, "")))
        .map(|(file, anchor)| (file.to_owned(), anchor.to_owned()))
        .collect()
}

/// The anchors of a text's headings, as they are made where it is read.
pub(super) fn anchors(text: &str) -> Vec<String> {
    let headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    headings
        .map(|heading| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn a_block_has_a_language_a_mark_and_the_name_that_stands_before_it() {
    let text = "Save it as `a.yaml`:\n\n```yaml\nx: 1\n```\n\n- in a list\n  ```json reply=Stop\n  {\n    }\n  ```\n";
    let block = |language: &str, mark: &str, file: Option<&str>, text: &str, line| Block {
        language: language.to_owned(),
        mark: mark.to_owned(),
        file: file.map(str::to_owned),
        text: text.to_owned(),
        line,
    };
    let wanted =
        [block("yaml", "", Some("a.yaml"), "x: 1\n", 3), block("json", "reply=Stop", None, "{\n  }\n", 8)];
    assert_eq!(blocks(text), wanted);
    assert_eq!(named("run `crosier check` first:"), None);
    assert_eq!(anchors("# The `a:b` (one)\ntext"), ["the-ab-one"]);
    let wanted = [("a.md".to_owned(), "top".to_owned()), (String::new(), "x".to_owned())];
    assert_eq!(links("[a](a.md#top) [b](https://b) [c](#x)"), wanted);
}
