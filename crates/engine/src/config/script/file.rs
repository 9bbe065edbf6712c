//! Reads `.arma` files: each line is a hook.
//!
//! Input: the `scripts:` of a configuration. Output: the hooks of the files that it names, in order. A file
//! that cannot be read is a problem, shown at its path in the configuration. The size of a file and the
//! number of problems that are shown are limited, so that no file can take much time or memory.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::hook::compiled_matcher;
use super::super::loader::LoadContext;
use super::super::names::DeclaredHook;
use super::super::section::Settings;
use super::super::tree::{Node, Problem, Problems, Severity, Source, Span, Value, shorten};
use super::super::value::Reader;
use super::SCRIPT_PRIORITY;
use super::head::{Head, Options, head};
use super::lexer::{Dollar, Lexer};
use super::line::{command, report};
use super::position::PositionMap;
use crate::registry::{Hook, Layer, Matcher, Mode, Origin};

/// The maximum size of a file.
const MAX_BYTES: usize = 1024 * 1024;
/// The maximum number of errors, and of warnings, that are shown for one file.
const MAX_SHOWN: usize = 100;

/// The hooks of all files that a configuration names.
pub(in super::super) fn scripts(
    reader: &mut Reader<'_>,
    context: &mut LoadContext<'_>,
    node: &Node,
    settings: &Settings,
) -> Vec<Hook> {
    let files: &[Node] = match &node.value {
        Value::Null => &[],
        Value::List(items) => items,
        Value::Text(_) => std::slice::from_ref(node),
        _ => {
            reader.expected("scripts", "a list of files like [hooks.arma]", node);
            &[]
        }
    };
    let mut hooks = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    for node in files {
        let Some(name) = reader.filled_text("scripts", node) else { continue };
        let path = context.folder.join(&name);
        if seen.contains(&path) {
            reader.error(node.span, format!("the script `{}` is listed twice", shorten(&name)));
            continue;
        }
        match read(&path) {
            Ok(text) => {
                let source = Source::new(shown(reader.source, &name, &path), text);
                hooks.extend(script(reader, &source, context, settings));
            }
            Err(why) => {
                reader.error_with_help(node.span, why, "relative paths begin at the configuration's folder");
            }
        }
        seen.push(path);
    }
    hooks
}

/// The name of a script for people: relative like the name of its configuration, if it is in the same folder.
fn shown(config: &Source, name: &str, path: &Path) -> String {
    let beside = Path::new(&config.name).with_file_name(name);
    let same = std::path::absolute(&beside).is_ok_and(|beside| beside == path);
    if same { beside.display().to_string() } else { path.display().to_string() }
}

fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("the script does not exist: {shown}"),
        _ => format!("the script cannot be read: {shown}: {error}"),
    };
    // Opening a named pipe would block until something is written to it.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(format!("the script is not a file: {shown}"));
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_BYTES {
        return Err(format!("the script is larger than 1 MiB: {shown}"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = error.as_bytes().iter().take(at);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        format!("the script is not UTF-8 text (byte {at}, in line {line}): {shown}")
    })
}

/// The hooks of one file.
fn script(
    config: &mut Reader<'_>,
    source: &Arc<Source>,
    context: &mut LoadContext<'_>,
    settings: &Settings,
) -> Vec<Hook> {
    let file: Arc<str> = source.name.as_str().into();
    let mut hooks = Vec::new();
    let (mut errors, mut warnings) = (0, 0);
    for line in lines(&source.text) {
        let mut found = Problems::new();
        let mut reader = Reader { source, problems: &mut found, lints: config.lints };
        hooks.extend(hook(&mut reader, context, settings, &line, &file));
        for problem in found {
            match problem.severity() {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
            }
            if problem.severity() == Severity::Error || warnings <= MAX_SHOWN {
                config.problems.push(problem);
            }
        }
        if errors >= MAX_SHOWN {
            let span = Span::at(line.start + line.text.len());
            let message = format!("the file has {errors} errors up to here; the rest of it was not checked");
            config.problems.push(Problem::error(source, span, message));
            break;
        }
    }
    if warnings > MAX_SHOWN {
        let message = format!("the file has {} more warnings, which are not shown", warnings - MAX_SHOWN);
        config.problems.push(Problem::warning(source, Span::at(source.text.len()), message));
    }
    hooks
}

/// One line of a file.
struct Line<'a> {
    number: usize,
    start: usize,
    text: &'a str,
}

/// The lines of a text, which end with `\n`, `\r\n` or `\r`.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut number = 0;
    let mut start = 0;
    let mut after_return = false;
    text.split_inclusive(['\n', '\r']).filter_map(move |piece| {
        let from = start;
        start += piece.len();
        let half = after_return && piece == "\n";
        after_return = piece.ends_with('\r');
        if half {
            return None;
        }
        number += 1;
        // A byte order mark is not part of the first line.
        let mark = if from == 0 && piece.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let text = piece.get(mark..)?.trim_end_matches(['\n', '\r']);
        Some(Line { number, start: from + mark, text })
    })
}

fn hook(
    reader: &mut Reader<'_>,
    context: &mut LoadContext<'_>,
    settings: &Settings,
    written: &Line<'_>,
    file: &Arc<str>,
) -> Option<Hook> {
    let mut line = Lexer::new(written.text);
    let positions = PositionMap::From(written.start);
    let first = line.word(Dollar::Plain)?;
    let (event, options, handler) = match head(&mut line, &first, context.catalog, &positions) {
        Some(Head { event, options, word }) => {
            let row = event.as_ref().map(|event| &*event.kind);
            let handler = command(&mut line, word, context.commands, row);
            (event, options, handler)
        }
        None => (None, Options::default(), None),
    };
    report(reader, &positions, line.problems);
    let event = event?;
    let (name, span) = match options.name {
        Some((name, span)) => (Some(name), positions.span(span)),
        None => (None, Span::at(positions.span(first.span).start)),
    };
    let source = Arc::clone(reader.source);
    let named =
        DeclaredHook { agent: None, event: event.kind.name, system: false, name: name.clone(), source, span };
    context.names.add(named, reader.problems);
    let matcher = match &event.matcher {
        Some((text, span)) => compiled_matcher(reader, text, *span, &event),
        None => Some(Matcher::all()),
    };
    let (mut timeout, mut on_error) = (None, None);
    settings.apply(&mut timeout, &mut on_error);
    let before = written.text.get(..first.span.start).unwrap_or_default();
    let column = before.chars().count() + 1;
    Some(Hook {
        kind: event.kind.clone(),
        name,
        matcher: Ok(matcher?),
        priority: options.priority.unwrap_or(SCRIPT_PRIORITY),
        timeout,
        on_error,
        mode: Mode::Sequential,
        enforcement: settings.enforcement.unwrap_or_default(),
        guard: None,
        layer: Layer::Host,
        system: false,
        enabled: true,
        description: None,
        sources: None,
        origin: Some(Origin { file: Arc::clone(file), line: written.number, column, type_word: "script" }),
        handler: handler?,
    })
}
