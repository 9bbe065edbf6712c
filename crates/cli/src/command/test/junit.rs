//! The results as JUnit XML, for continuous integration: a test suite per file.

use std::fmt::Write;

use crate::cases::{Case, Verdict, describe};
use crate::paint::Paint;

/// The whole document.
pub(super) fn xml(cases: &[Case], verdicts: &[Verdict]) -> String {
    let all: Vec<(&Case, &Verdict)> = cases.iter().zip(verdicts).collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(text, "<testsuites name=\"crosier\" {}>", sums(&all));
    for suite in all.chunk_by(|(a, _), (b, _)| a.place().0 == b.place().0) {
        let Some((first, _)) = suite.first() else { continue };
        let _ = writeln!(text, "  <testsuite name=\"{}\" {}>", escaped(first.place().0), sums(suite));
        for (case, verdict) in suite {
            write_case(&mut text, case, verdict);
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn sums(cases: &[(&Case, &Verdict)]) -> String {
    let failures = cases.iter().filter(|(_, verdict)| !verdict.is_passed()).count();
    let seconds: f64 = cases.iter().map(|(_, verdict)| verdict.took.as_secs_f64()).sum();
    format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" time=\"{seconds:.6}\"", cases.len())
}

fn write_case(text: &mut String, case: &Case, verdict: &Verdict) {
    let (file, line) = case.place();
    let _ = write!(
        text,
        "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{line}\" time=\"{:.6}\"",
        escaped(&case.name),
        escaped(&case.event),
        escaped(file),
        verdict.took.as_secs_f64()
    );
    if verdict.is_passed() {
        text.push_str("/>\n");
        return;
    }
    let what: Vec<&str> = verdict.differences.iter().map(|difference| difference.at.as_str()).collect();
    let _ = writeln!(
        text,
        ">\n      <failure message=\"not as expected: {}\">{}</failure>\n    </testcase>",
        escaped(&what.join(", ")),
        escaped(&describe(case, verdict, Paint::Plain))
    );
}

/// Escapes text for XML. Characters that XML cannot represent become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_can_break_the_document() {
        assert_eq!(escaped("<a b=\"c\">&'\u{1}\n"), "&lt;a b=&quot;c&quot;&gt;&amp;&apos;\u{fffd}&#10;");
    }
}
