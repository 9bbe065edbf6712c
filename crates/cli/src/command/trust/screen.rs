//! What a person sees before they trust a project. All of it comes from the repository, so all of it is escaped.

use std::fmt::Write as _;

use crosier_policy::trust::{Change, HookLine, Review, Reviewed, TrustState};

use crate::paint::{Paint, Tone};
use crate::print::{one_line, plain};

/// How much of a digest is shown.
const SHOWN_DIGEST: usize = 12;

/// The whole review.
pub(super) fn all(review: &Review) -> String {
    let mut text = String::new();
    for one in &review.folders {
        folder(one, &mut text);
    }
    let _ = writeln!(text, "Digest of all files: {}", review.digest());
    text
}

/// Only the changes.
pub(super) fn changes_only(review: &Review) -> String {
    let mut text = String::new();
    for one in &review.folders {
        let _ = writeln!(text, "{}", title(one));
        match &one.changes {
            None => text.push_str("  never trusted: `crosier trust` shows all of it\n"),
            Some(all) if all.is_empty() => text.push_str("  unchanged since it was trusted\n"),
            Some(all) => all.iter().for_each(|change| write_change(change, &mut text)),
        }
    }
    text
}

fn title(one: &Reviewed) -> String {
    Paint::stdout().tone(Tone::Strong, &one_line(&one.folder.display().to_string()))
}

fn folder(one: &Reviewed, text: &mut String) {
    let _ = writeln!(text, "{}\n", title(one));
    if let Some((twin, at)) = &one.twin {
        let twin = one_line(&twin.display().to_string());
        let _ = writeln!(text, "The same content as {twin}, trusted on {}.\n", day(*at));
    }
    let _ = writeln!(text, "Hooks ({})", one.hooks.len());
    one.hooks.iter().for_each(|hook| write_hook(hook, text));
    let _ = writeln!(text, "\nFiles that are trusted with it ({})", one.files.len());
    for (path, digest, note) in &one.files {
        let digest = digest.get(..SHOWN_DIGEST).unwrap_or("-");
        let note = if note.is_empty() { String::new() } else { format!("  ({note})") };
        let _ = writeln!(text, "  {digest:SHOWN_DIGEST$}  {}{note}", one_line(path));
    }
    if !one.unseen.is_empty() {
        let _ = writeln!(text, "\nCode that cannot be checked");
        one.unseen.iter().for_each(|what| {
            let _ = writeln!(text, "  {}", one_line(what));
        });
    }
    match &one.changes {
        Some(all) if !all.is_empty() => {
            let _ = writeln!(text, "\nChanged since you trusted it ({})", all.len());
            all.iter().for_each(|change| write_change(change, text));
        }
        _ => {}
    }
    text.push('\n');
}

fn write_hook(hook: &HookLine, text: &mut String) {
    let (name, matcher) = (one_line(&hook.name), one_line(&hook.matcher));
    let _ = writeln!(text, "  {} {matcher}: {name}", hook.event);
    for line in plain(&hook.runs).lines() {
        let _ = writeln!(text, "      {line}");
    }
    for with in &hook.with {
        let _ = writeln!(text, "      {}", one_line(with));
    }
}

fn write_change(change: &Change, text: &mut String) {
    let paint = Paint::stdout();
    let _ = writeln!(text, "  {} {}", one_line(&change.path), change.what);
    for line in &change.diff {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Some(Tone::Good),
            Some(b'-') => Some(Tone::Bad),
            _ => None,
        };
        let line = one_line(line);
        let line = tone.map_or_else(|| line.clone(), |tone| paint.tone(tone, &line));
        let _ = writeln!(text, "    {line}");
    }
}

/// The word for a project's trust state.
pub(super) fn word(trust_state: &TrustState) -> &'static str {
    match trust_state {
        TrustState::Trusted => "trusted",
        TrustState::Closed(_) => "closed",
        _ => "never trusted",
    }
}

/// A date, from seconds since 1970.
pub(super) fn day(seconds: u64) -> String {
    // Howard Hinnant's algorithm `civil_from_days`.
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_at = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_at + 2) / 5 + 1;
    let month = if month_at < 10 { month_at + 3 } else { month_at - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(951_782_400), "2000-02-29");
        assert_eq!(day(1_795_000_000), "2026-11-18");
    }
}
