//! The patches of `apply_patch`: which files they touch, and how.
//!
//! Converts the text between `*** Begin Patch` and `*** End Patch` to changes by file, and back. Text that cannot
//! be understood is an error: a guard must never judge half of a patch.

use std::fmt::Write as _;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The file.
    pub path: String,
    /// What happens to it.
    pub action: Action,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// It is written, with this content.
    Add(String),
    /// It is deleted.
    Delete,
    /// It is changed, and perhaps moved.
    Update {
        /// Its new path.
        move_to: Option<String>,
        /// The places that change.
        hunks: Vec<Hunk>,
    },
}

/// One place that changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hunk {
    /// The line that locates it, as written: `@@ fn main`.
    head: String,
    lines: Vec<(Mark, String)>,
    at_end: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Same,
    Gone,
    New,
}

impl Hunk {
    /// The old text.
    #[must_use]
    pub fn before(&self) -> String {
        self.side(Mark::New)
    }

    /// The new text.
    #[must_use]
    pub fn after(&self) -> String {
        self.side(Mark::Gone)
    }

    fn side(&self, without: Mark) -> String {
        let lines = self.lines.iter().filter(|(mark, _)| *mark != without);
        lines.map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The same hunk with these texts.
    #[must_use]
    pub fn changed(&self, old: &str, new: &str) -> Self {
        let side = |mark, text: &str| {
            let lines: Vec<&str> = if text.is_empty() { Vec::new() } else { text.split('\n').collect() };
            lines.into_iter().map(move |line| (mark, line.to_owned())).collect::<Vec<_>>()
        };
        let mut lines = side(Mark::Gone, old);
        lines.extend(side(Mark::New, new));
        Self { head: self.head.clone(), lines, at_end: self.at_end }
    }
}

/// Parses a patch.
///
/// # Errors
/// A sentence that says what cannot be understood.
pub fn parse(text: &str) -> Result<Vec<Change>, String> {
    let mut lines = text.lines().skip_while(|line| line.trim() != "*** Begin Patch");
    if lines.next().is_none() {
        return Err("the patch has no line `*** Begin Patch`".to_owned());
    }
    let mut changes: Vec<Change> = Vec::new();
    while let Some(line) = lines.next() {
        // In an update, a line that begins with a space is a line of the file, whatever follows.
        let in_change = matches!(changes.last().map(|change| &change.action), Some(Action::Update { .. }));
        let head = if in_change { line.trim_end() } else { line.trim() };
        if head == "*** End Patch" {
            // Hooks would not see changes after the end mark.
            if lines.any(|line| line.trim().starts_with("***")) {
                return Err("the patch continues after `*** End Patch`".to_owned());
            }
            break;
        }
        match head.strip_prefix("*** ") {
            Some(head) => header(head, &mut changes)?,
            None => body(line, changes.last_mut())?,
        }
    }
    if changes.is_empty() { Err("the patch names no file".to_owned()) } else { Ok(changes) }
}

/// The changes of the patches in a command line that runs `apply_patch`. Of a patch that cannot be understood, only the
/// files that it names. A folder that the command enters before is part of their paths.
#[must_use]
pub fn in_command(command: &str) -> Vec<Change> {
    let found = ["apply_patch", "applypatch"].iter().filter_map(|word| command.split_once(word));
    let Some((before, rest)) = found.min_by_key(|(before, _)| before.len()) else { return Vec::new() };
    let Some((_, patch)) = rest.split_once("*** Begin Patch") else { return Vec::new() };
    let whole = parse(&format!("*** Begin Patch{patch}"));
    let mut changes = whole.unwrap_or_else(|_| named(patch));
    let folder = entered(before);
    for change in changes.iter_mut().filter(|_| !folder.is_empty()) {
        let inside = |path: &str| match path.starts_with(['/', '~', '$']) {
            true => path.to_owned(),
            false => format!("{}/{path}", folder.trim_end_matches('/')),
        };
        change.path = inside(&change.path);
        if let Action::Update { move_to: Some(to), .. } = &mut change.action {
            *to = inside(to);
        }
    }
    changes
}

/// The folder that a command line enters last.
fn entered(command: &str) -> String {
    let steps = command.split(['&', ';', '\n', '(', '{']);
    let mut folders = steps.filter_map(|step| step.trim().strip_prefix("cd "));
    folders.next_back().map(|folder| folder.replace(['\'', '"'], "").trim().to_owned()).unwrap_or_default()
}

/// The files that a patch names.
fn named(patch: &str) -> Vec<Change> {
    let change = |line: &str| {
        let head = line.trim().strip_prefix("*** ")?;
        let after = |words: [&str; 2]| words.iter().find_map(|word| head.strip_prefix(word));
        let (path, action) = match after(["Add File:", "Move to:"]) {
            Some(path) => (path, Action::Add(String::new())),
            None => {
                let action = Action::Update { move_to: None, hunks: Vec::new() };
                (after(["Update File:", "Delete File:"])?, action)
            }
        };
        Some(Change { path: path.trim().to_owned(), action })
    };
    patch.lines().filter_map(change).collect()
}

fn header(head: &str, changes: &mut Vec<Change>) -> Result<(), String> {
    let mut push = |path: &str, action| changes.push(Change { path: path.trim().to_owned(), action });
    if let Some(path) = head.strip_prefix("Add File:") {
        push(path, Action::Add(String::new()));
    } else if let Some(path) = head.strip_prefix("Delete File:") {
        push(path, Action::Delete);
    } else if let Some(path) = head.strip_prefix("Update File:") {
        push(path, Action::Update { move_to: None, hunks: Vec::new() });
    } else if let Some(path) = head.strip_prefix("Move to:") {
        match changes.last_mut().map(|change| &mut change.action) {
            Some(Action::Update { move_to, .. }) => *move_to = Some(path.trim().to_owned()),
            _ => return Err("the patch moves a file that it does not update".to_owned()),
        }
    } else if head == "End of File" {
        if let Some(Action::Update { hunks, .. }) = changes.last_mut().map(|change| &mut change.action) {
            if let Some(hunk) = hunks.last_mut() {
                hunk.at_end = true;
            }
        }
    } else if changes.is_empty() && head.starts_with("Environment ID:") {
        // This line only says where the change is.
    } else {
        return Err(format!("the patch has an unknown line: `*** {head}`"));
    }
    Ok(())
}

fn body(line: &str, change: Option<&mut Change>) -> Result<(), String> {
    match change.map(|change| &mut change.action) {
        Some(Action::Add(content)) => match line.strip_prefix('+') {
            Some(added) => {
                content.push_str(added);
                content.push('\n');
            }
            None if line.trim().is_empty() => {}
            None => return Err(format!("a line of a new file does not begin with `+`: `{line}`")),
        },
        Some(Action::Update { hunks, .. }) => {
            if line.starts_with("@@") {
                hunks.push(Hunk { head: line.to_owned(), ..Hunk::default() });
                return Ok(());
            }
            let (mark, rest) = match line.chars().next() {
                Some('+') => (Mark::New, &line[1..]),
                Some('-') => (Mark::Gone, &line[1..]),
                Some(' ') => (Mark::Same, &line[1..]),
                None => (Mark::Same, ""),
                Some(_) => {
                    return Err(format!("a line of a change begins with none of `+`, `-`, ` `: `{line}`"));
                }
            };
            if hunks.is_empty() {
                hunks.push(Hunk::default());
            }
            if let Some(hunk) = hunks.last_mut() {
                hunk.lines.push((mark, rest.to_owned()));
            }
        }
        _ if line.trim().is_empty() => {}
        Some(Action::Delete) => return Err("a file that is deleted has lines".to_owned()),
        None => return Err(format!("the patch has a line before the first file: `{line}`")),
    }
    Ok(())
}

/// Writes changes as a patch.
#[must_use]
pub fn render(changes: &[Change]) -> String {
    let mut out = String::from("*** Begin Patch\n");
    for change in changes {
        let path = &change.path;
        // Writing to a string cannot fail.
        let _ = match &change.action {
            Action::Add(content) => {
                let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
                write!(out, "*** Add File: {path}\n{lines}")
            }
            Action::Delete => writeln!(out, "*** Delete File: {path}"),
            Action::Update { move_to, hunks } => {
                let moved = move_to.as_ref().map(|to| format!("*** Move to: {to}\n")).unwrap_or_default();
                let hunks: String = hunks.iter().map(hunk_text).collect();
                write!(out, "*** Update File: {path}\n{moved}{hunks}")
            }
        };
    }
    out.push_str("*** End Patch\n");
    out
}

fn hunk_text(hunk: &Hunk) -> String {
    let head = if hunk.head.is_empty() { String::new() } else { format!("{}\n", hunk.head) };
    let lines = hunk.lines.iter().map(|(mark, line)| {
        let mark = match mark {
            Mark::Same => ' ',
            Mark::Gone => '-',
            Mark::New => '+',
        };
        format!("{mark}{line}\n")
    });
    let end = if hunk.at_end { "*** End of File\n" } else { "" };
    format!("{head}{}{end}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n+two\n*** Update File: src/x.rs\n*** Move to: \
                         src/y.rs\n@@ fn main\n same\n-old\n+new\n@@\n-z\n*** End of File\n*** Delete File: gone\n*** \
                         End Patch\n";

    #[test]
    fn a_patch_falls_into_files_and_comes_back_as_it_was() {
        let changes = parse(PATCH).unwrap();
        assert_eq!(changes[0].action, Action::Add("one\n\ntwo\n".to_owned()));
        let Action::Update { move_to, hunks } = &changes[1].action else { panic!("{changes:?}") };
        assert_eq!(move_to.as_deref(), Some("src/y.rs"));
        assert_eq!((hunks[0].before(), hunks[0].after()), ("same\nold".to_owned(), "same\nnew".to_owned()));
        assert_eq!((hunks[1].before(), hunks[1].after()), ("z".to_owned(), String::new()));
        assert_eq!((changes[2].path.as_str(), &changes[2].action), ("gone", &Action::Delete));
        assert_eq!(render(&changes), PATCH);
    }

    #[test]
    fn what_cannot_be_understood_is_an_error() {
        for bad in [
            "",
            "hello",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch",
            "*** Begin Patch\n*** Rename File: a\n*** End Patch",
            "*** Begin Patch\n+x\n*** End Patch",
            "*** Begin Patch\n*** Move to: b\n*** End Patch",
            "*** Begin Patch\n*** Update File: a\n?x\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n*** Add File: b\n+x\n*** End Patch",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn words_around_a_patch_and_a_missing_end_are_no_reason_to_give_up() {
        let changes = parse("<<'EOF'\n*** Begin Patch\n*** Add File: x\n+y\n").unwrap();
        assert_eq!(changes[0].path, "x");
    }

    #[test]
    fn the_patches_in_a_command_name_their_files() {
        let paths = |command: &str| {
            let changes = in_command(command).into_iter();
            changes.map(|change| change.path).collect::<Vec<_>>().join(" ")
        };
        let add = "*** Begin Patch\n*** Add File: x\n+y\n*** End Patch\n";
        assert_eq!(paths(&format!("apply_patch <<'EOF'\n{add}EOF\n")), "x");
        assert_eq!(paths(&format!("cd /a && cd \"/b/\" && apply_patch <<EOF\n{add}EOF\n")), "/b/x");
        assert_eq!(paths(&format!("apply_patch '{add}'; apply_patch '{}'", add.replace('x', "z"))), "x z");
        assert_eq!(paths("apply_patch <<-EOF\n\t*** Begin Patch\n\t*** Update File: a\n\t-b\nEOF"), "a");
        assert_eq!(
            paths(
                "apply_patch <<E\n*** Begin Patch\n*** Update File: a\n *** End Patch\n*** Delete File: b\nE"
            ),
            "a b"
        );
        let moved = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-c\n*** End Patch\n";
        let changes = in_command(&format!("cd d; apply_patch <<E\n{moved}E"));
        assert!(matches!(&changes[0].action, Action::Update { move_to: Some(to), .. } if to == "d/b"));
        for other in ["ls", "grep -r apply_patch .", &format!("cat <<E\n{add}E\n")] {
            assert_eq!(paths(other), "", "{other}");
        }
    }

    #[test]
    fn a_line_of_a_file_ends_no_patch() {
        let text =
            "*** Begin Patch\n*** Update File: a\n *** End Patch\n-x\n*** Delete File: b\n*** End Patch\n";
        let changes = parse(text).unwrap();
        assert_eq!(changes[1], Change { path: "b".to_owned(), action: Action::Delete });
        assert_eq!(render(&changes), text);
    }

    #[test]
    fn a_hunk_can_be_given_other_texts() {
        let changes = parse("*** Begin Patch\n*** Update File: a\n@@ here\n-b\n+c\n*** End Patch\n").unwrap();
        let Action::Update { hunks, .. } = &changes[0].action else { panic!() };
        let changed = hunks[0].changed("b", "d\ne");
        assert_eq!((changed.before(), changed.after()), ("b".to_owned(), "d\ne".to_owned()));
        assert_eq!(hunk_text(&changed), "@@ here\n-b\n+d\n+e\n");
    }
}
