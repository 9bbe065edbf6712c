//! Shows people what changes in a file.

use similar::TextDiff;

/// A unified diff with three lines around each change; `None` is a file that does not exist.
#[must_use]
pub fn diff(name: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let (old, new) = (text(before), text(after));
    let head = |there: bool| if there { name } else { "/dev/null" };
    let diff = TextDiff::from_lines(&old, &new);
    diff.unified_diff().context_radius(3).header(head(before.is_some()), head(after.is_some())).to_string()
}
