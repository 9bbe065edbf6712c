//! The part of a script line before the command: `hook`, the event, the options.

use std::sync::Arc;

use crosier_protocol::Catalog;
use crosier_protocol::nearest::nearest;

use super::super::section::EventKey;
use super::super::tree::{Span, shorten};
use super::lexer::{Dollar, Lexer, Word};
use super::position::PositionMap;

/// A line up to its command.
pub(super) struct Head {
    /// `None` if no event has this name; the rest of the line is still checked.
    pub(super) event: Option<EventKey>,
    pub(super) options: Options,
    /// The next word, which should be a command.
    pub(super) word: Option<Word>,
}

/// The options of a line.
#[derive(Default)]
pub(super) struct Options {
    pub(super) name: Option<(Arc<str>, Span)>,
    pub(super) priority: Option<i32>,
}

/// Reads what follows the first word. `None` if the line is so incomplete that further errors would only be
/// noise.
pub(super) fn head(
    line: &mut Lexer<'_>,
    first: &Word,
    catalog: &Catalog,
    positions: &PositionMap,
) -> Option<Head> {
    if first.text() != "hook" || !first.bare {
        not_a_hook(line, first);
        return None;
    }
    let Some(word) = line.word(Dollar::Plain) else {
        let span = line.end();
        line.error(span, "an event like `pre:tool` is missing here", SHAPE);
        return None;
    };
    if word.bare && word.text().starts_with(['/', '-']) {
        let message = format!("an event like `pre:tool` must come before `{}`", shorten(&word.text()));
        line.error(word.span, message, SHAPE);
        return None;
    }
    let event = event(line, &word, catalog, positions);
    let (options, word) = options(line);
    Some(Head { event, options, word })
}

const SHAPE: &str = "a line is `hook EVENT[:MATCHER] [--name NAME] [--priority NUMBER] /COMMAND ARGUMENTS`";

fn not_a_hook(line: &mut Lexer<'_>, first: &Word) {
    let text = first.text();
    let help = match nearest(&text, ["hook"]) {
        Some(near) => format!("did you mean `{near}`?"),
        None if text.starts_with("//") || text.starts_with(';') => "a comment begins with `#`".to_owned(),
        None if text.starts_with('/') => format!("say when it runs: {SHAPE}"),
        None => SHAPE.to_owned(),
    };
    let message = format!("every line must begin with `hook`, but this begins with `{}`", shorten(&text));
    line.error(first.span, message, help);
}

/// The event that a word names, and the matcher after it.
fn event(line: &mut Lexer<'_>, word: &Word, catalog: &Catalog, positions: &PositionMap) -> Option<EventKey> {
    let text = word.text();
    let (kind, matcher) = match catalog.resolve(&text) {
        Some(named) => (named.kind, named.matcher),
        // An event name can be followed by a matcher, as a point alias can.
        None => match text.split_once(':').and_then(|(name, rest)| Some((catalog.find(name)?, rest))) {
            Some((kind, rest)) if !rest.is_empty() => (kind, Some(rest)),
            _ => {
                unknown(line, &text, word.span, catalog);
                return None;
            }
        },
    };
    let matcher = matcher.map(|matcher| {
        let start = if word.bare { word.span.end.saturating_sub(matcher.len()) } else { word.span.start };
        (matcher.to_owned(), positions.span(Span::new(start, word.span.end)))
    });
    Some(EventKey { kind, matcher })
}

fn unknown(line: &mut Lexer<'_>, text: &str, span: Span, catalog: &Catalog) {
    let bare = text.trim_end_matches(':');
    if bare.len() < text.len() && catalog.resolve(bare).is_some() {
        let help = format!("write `{bare}` for all, or `{bare}:MATCHER`");
        return line.error(span, "the matcher after the `:` is empty", help);
    }
    let rows: Vec<_> = catalog.rows().collect();
    let near = |text: &str| {
        let names = rows.iter().flat_map(|row| std::iter::once(row.name).chain(row.alias));
        nearest(text, names).map(|near| format!("did you mean `{near}`?"))
    };
    // The last parts may be a matcher.
    let shorter = text.rmatch_indices(':').filter_map(|(at, _)| text.get(..at)).take(3);
    let help = near(text).or_else(|| shorter.filter_map(near).next());
    let help = help.unwrap_or_else(|| "`crosier events` lists the events".to_owned());
    line.error(span, format!("unknown event `{}`", shorten(text)), help);
}

/// `--name` and `--priority`, and the word after them.
fn options(line: &mut Lexer<'_>) -> (Options, Option<Word>) {
    let mut options = Options::default();
    let mut seen: Vec<String> = Vec::new();
    let mut next = line.word(Dollar::Plain);
    while let Some(option) = next.take_if(|word| word.bare && word.text().starts_with("--")) {
        next = line.word(Dollar::Plain);
        let text = option.text();
        if text != "--name" && text != "--priority" {
            unknown_option(line, &text, option.span);
            // Skip its value, if it has one: it is not the command.
            if next.as_ref().is_some_and(|word| !word.text().starts_with(['/', '-'])) {
                next = line.word(Dollar::Plain);
            }
            continue;
        }
        if seen.contains(&text) {
            line.error(option.span, format!("`{text}` is given twice"), "leave one of them out");
        }
        match next
            .take_if(|word| !(word.bare && (word.text().starts_with('/') || word.text().starts_with("--"))))
        {
            None => {
                let wanted = if text == "--name" { "a name" } else { "a number" };
                line.error(
                    option.span,
                    format!("`{text}` needs {wanted}"),
                    format!("write it after `{text}`"),
                );
            }
            Some(value) => {
                match text.as_str() {
                    "--name" => options.name = name(line, &value),
                    _ => options.priority = priority(line, &value),
                }
                next = line.word(Dollar::Plain);
            }
        }
        seen.push(text);
    }
    (options, next)
}

fn unknown_option(line: &mut Lexer<'_>, text: &str, span: Span) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let help = match nearest(name, ["--name", "--priority"]) {
        Some(near) if near == name => format!("write `{near} {}`, without the `=`", shorten(value)),
        Some(near) => format!("did you mean `{near}`?"),
        None => "the options are --name NAME and --priority NUMBER".to_owned(),
    };
    line.error(span, format!("unknown option `{}`", shorten(text)), help);
}

fn name(line: &mut Lexer<'_>, word: &Word) -> Option<(Arc<str>, Span)> {
    let text = word.text();
    if text.trim().is_empty() {
        line.error(word.span, "the name is empty", "leave `--name` out, and the hook gets a name by itself");
        return None;
    }
    // `log-$tool` would need a value that is not known when the file is loaded.
    if text.contains('$') {
        line.error(word.span, "a name cannot hold a variable", "it is fixed when the file is loaded");
        return None;
    }
    Some((text.into(), word.span))
}

fn priority(line: &mut Lexer<'_>, word: &Word) -> Option<i32> {
    let text = word.text();
    let number = text.parse().ok();
    if number.is_none() {
        let message = format!("`--priority` must be a whole number, but it is `{}`", shorten(&text));
        let help = "1 is system-critical, 10 security, 50 user scripts (the default), 100 all else";
        line.error(word.span, message, help);
    }
    number
}
