//! One commit in the format of `git fast-import`: one process writes the blob, the trees and the commit and moves the
//! branch, without an index or a work tree.

use super::entry::{EntryKind, compose};

/// The only branch.
pub(super) const BRANCH: &str = "refs/heads/main";

/// What a commit does to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change<'a> {
    Put { content: &'a [u8], executable: bool },
    Remove,
}

/// A commit of one file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Commit<'a> {
    pub(super) path: &'a str,
    pub(super) change: Change<'a>,
    pub(super) kind: EntryKind,
    pub(super) message: &'a str,
}

/// Whether the branch already has a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parent {
    Head,
    None,
}

impl Commit<'_> {
    /// The input for `git fast-import`, which answers with the id. The branch moves only if its tip is still the
    /// parent of the commit.
    pub(super) fn stream(&self, parent: Parent, now: u64) -> Vec<u8> {
        let message = compose(self.message, self.path, self.kind);
        let mut out = format!(
            "feature done\ncommit {BRANCH}\nmark :1\ncommitter Crosier <crosier@localhost> {now} +0000\ndata {}\n{message}\n",
            message.len()
        )
        .into_bytes();
        if parent == Parent::Head {
            out.extend_from_slice(format!("from {BRANCH}^0\n").as_bytes());
        }
        let path = quoted(self.path);
        match self.change {
            Change::Put { content, executable } => {
                let mode = if executable { "100755" } else { "100644" };
                out.extend_from_slice(format!("M {mode} inline {path}\ndata {}\n", content.len()).as_bytes());
                out.extend_from_slice(content);
                out.push(b'\n');
            }
            Change::Remove => out.extend_from_slice(format!("D {path}\n").as_bytes()),
        }
        out.extend_from_slice(b"get-mark :1\ndone\n");
        out
    }
}

/// A path, quoted like a string in C.
fn quoted(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 2);
    out.push('"');
    for character in path.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_names_lengths_and_quotes_paths() {
        let change = Change::Put { content: b"x\n", executable: true };
        let commit = Commit { path: "a \"b\"\\\n", change, kind: EntryKind::Written, message: "m" };
        let stream = String::from_utf8(commit.stream(Parent::Head, 7)).unwrap();
        assert!(stream.contains("committer Crosier <crosier@localhost> 7 +0000\n"), "{stream}");
        assert!(stream.contains("\nfrom refs/heads/main^0\nM 100755 inline \"a \\\"b\\\"\\\\\\n\"\ndata 2\nx\n\nget-mark :1\ndone\n"), "{stream}");
        let removal = Commit { change: Change::Remove, ..commit };
        let stream = String::from_utf8(removal.stream(Parent::None, 7)).unwrap();
        assert!(!stream.contains("from ") && stream.contains("\nD \"a "), "{stream}");
    }
}
