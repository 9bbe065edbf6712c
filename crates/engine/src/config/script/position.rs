//! Maps byte offsets of a line to positions in its file.
//!
//! A line of a script is an exact part of the file. A `run:` line was decoded by YAML: its quotes removed,
//! escapes decoded, lines folded. If a position is not known exactly, the whole value is used, never a wrong
//! position.

use super::super::tree::{Node, Source, Span, Style};

/// How positions in a line map to positions in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PositionMap {
    /// The line begins here and is an exact part of the file.
    From(usize),
    /// The position of each byte, and of the end.
    Each(Vec<usize>),
    /// Somewhere in this span.
    Whole(Span),
}

impl PositionMap {
    /// The positions of a text that a node holds. The text may lack the white space at its end.
    pub(super) fn of_node(source: &Source, node: &Node, text: &str) -> Self {
        let written = source.slice(node.span);
        let exact = match node.style {
            Style::Quoted => {
                let quoted = written.get(..written.len().saturating_sub(1)).unwrap_or_default().trim_end();
                quoted.strip_suffix(text).filter(|before| before.ends_with(['"', '\''])).map(str::len)
            }
            Style::Plain | Style::Block => written.trim_end().strip_suffix(text).map(str::len),
        };
        if let Some(before) = exact {
            return Self::From(node.span.start + before);
        }
        let escaped = if node.style == Style::Quoted { align(written, text) } else { None };
        match escaped {
            Some(mut positions) => {
                positions.iter_mut().for_each(|position| *position += node.span.start);
                Self::Each(positions)
            }
            None => Self::Whole(node.span),
        }
    }

    /// The position in the file.
    pub(super) fn span(&self, span: Span) -> Span {
        match self {
            Self::From(start) => Span::new(start + span.start, start + span.end),
            Self::Each(positions) => {
                let last = positions.last().copied().unwrap_or_default();
                let position = |at: usize| positions.get(at).copied().unwrap_or(last);
                Span::new(position(span.start), position(span.end))
            }
            Self::Whole(whole) => *whole,
        }
    }
}

/// The position of each byte of a text in its quoted form; `None` if that contains more than simple escapes.
fn align(written: &str, text: &str) -> Option<Vec<usize>> {
    let open = written.find(['"', '\''])?;
    let quote = written.get(open..)?.chars().next()?;
    let mut at = open + 1;
    let mut positions = Vec::with_capacity(text.len() + 1);
    for c in text.chars() {
        let rest = written.get(at..)?;
        let mut next = rest.chars();
        let taken = match (quote, next.next()?) {
            ('\'', '\'') if rest.starts_with("''") && c == '\'' => 2,
            ('"', '\\') => {
                let meant = match next.next()? {
                    'n' => '\n',
                    't' => '\t',
                    other @ ('"' | '\\' | '/') => other,
                    _ => return None,
                };
                if meant != c {
                    return None;
                }
                2
            }
            (_, same) if same == c => c.len_utf8(),
            _ => return None,
        };
        positions.extend(std::iter::repeat_n(at, c.len_utf8()));
        at += taken;
    }
    positions.push(at);
    Some(positions)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::super::tree::{Source, parse_document};
    use super::*;

    /// The part of the file at the position that `part` has in the value of `run`.
    fn found(yaml: &str, part: &str) -> String {
        let source: Arc<Source> = Source::new("t", yaml);
        let tree = parse_document(&source).unwrap();
        let node = tree.get("run").unwrap();
        let text = node.as_text().unwrap().trim_end();
        let start = text.find(part).unwrap();
        let span = PositionMap::of_node(&source, node, text).span(Span::new(start, start + part.len()));
        source.slice(span).to_owned()
    }

    #[test]
    fn place_is_exact_however_the_line_is_quoted() {
        assert_eq!(found("run: /log debug $x", "$x"), "$x");
        assert_eq!(found("run: &a /log debug $x # c", "$x"), "$x");
        assert_eq!(found("run: '/log debug \"a $x\"  '", "$x"), "$x");
        assert_eq!(found("run: '/log debug \"it''s $x\"'", "$x"), "$x");
        assert_eq!(found(r#"run: "/log debug \"é $x\"""#, "$x"), "$x");
        assert_eq!(found(r#"run: "/log debug \"é $x\"""#, "\"é $x\""), r#"\"é $x\""#);
        assert_eq!(found("run: |\n  /log debug $x\n", "$x"), "$x");
        assert_eq!(found("{\"run\": \"\\/log debug $x\"}", "/log"), "\\/log");
    }

    #[test]
    fn place_is_the_whole_value_when_it_cannot_be_told() {
        assert_eq!(found("run: >\n  /log debug\n  $x\n", "$x").trim_start(), "/log debug\n  $x");
        assert_eq!(found(r#"run: "/log debug \u0024x""#, "$x"), r#""/log debug \u0024x""#);
        assert_eq!(found("a: &l /log debug $x\nrun: *l", "$x"), "*l");
    }
}
