//! Turns a command with its arguments into a callback, for scripts and `run:` lines.

use std::sync::Arc;

use crosier_protocol::nearest::nearest;
use crosier_protocol::{Answer, EventRow};

use super::super::hook::Keys;
use super::super::loader::LoadContext;
use super::super::section::EventKey;
use super::super::tree::{Problem, Severity, Span, shorten};
use super::super::value::Reader;
use super::command::{ArgumentProblem, Commands, SlashCommand};
use super::lexer::{Dollar, Lexer, LineProblem, Word};
use super::position::PositionMap;
use super::variable::{Argument, argument};
use crate::registry::{Call, Callback, Handler};

/// A `run:` line of a hook.
pub(in super::super) fn run_line(
    reader: &mut Reader<'_>,
    context: &LoadContext<'_>,
    keys: &Keys<'_>,
    event: &EventKey,
) -> Option<Handler> {
    let Some(node) = keys.get("run") else {
        let help = "add `run:` with a line like '/log debug \"$prompt\"'";
        reader.error_with_help(keys.start(), "this hook of type script runs nothing", help);
        return None;
    };
    let whole = reader.filled_text("run", node)?;
    let text = whole.trim_end();
    let positions = PositionMap::of_node(reader.source, node, text);
    if let Some(at) = text.find(['\n', '\r']) {
        let span = positions.span(Span::at(at));
        reader.error_with_help(span, "`run` is one line", "write a hook of its own for each line");
        return None;
    }
    let mut line = Lexer::new(text);
    let handler = match line.word(Dollar::Plain) {
        Some(word) if word.text() == "hook" => {
            let help = "a `run` line is already below its event: begin with the command, like `/log`";
            line.error(word.span, "`hook` belongs to `.arma` scripts", help);
            None
        }
        word => command(&mut line, word, context.commands, Some(&event.kind)),
    };
    report(reader, &positions, line.problems);
    handler
}

/// Reports the problems of a line.
pub(super) fn report(reader: &mut Reader<'_>, positions: &PositionMap, problems: Vec<LineProblem>) {
    for found in problems {
        let span = positions.span(found.span);
        let problem = match found.severity {
            Severity::Error => Problem::error(reader.source, span, found.message),
            Severity::Warning if reader.lints => Problem::warning(reader.source, span, found.message),
            Severity::Warning => continue,
        };
        let problem = if found.help.is_empty() { problem } else { problem.with_help(found.help) };
        reader.problems.push(problem);
    }
}

/// The command that a word names, with the rest of the line as its arguments. Without an event the line is
/// only checked.
pub(super) fn command(
    line: &mut Lexer<'_>,
    word: Option<Word>,
    commands: &Commands,
    event: Option<&EventRow>,
) -> Option<Handler> {
    let Some(word) = word else {
        let span = line.end();
        line.error(span, "a command like `/log` is missing here", known(commands));
        return None;
    };
    let command = find(line, &word, commands);
    let (mut arguments, mut spans) = (Vec::new(), Vec::new());
    while let Some(word) = line.word(Dollar::Variable) {
        arguments.push(argument(line, &word, event));
        spans.push(word.span);
    }
    let command = command?;
    // After an unclosed quote it is unknown where arguments end.
    if !line.unclosed {
        match command.check(&arguments) {
            Err(complaint) => complain(line, Severity::Error, &word, &spans, complaint),
            Ok(()) => {
                for complaint in event.map(|event| command.lint(&arguments, event)).unwrap_or_default() {
                    complain(line, Severity::Warning, &word, &spans, complaint);
                }
            }
        }
    }
    (!line.has_errors()).then(|| handler(command, arguments))
}

fn find(line: &mut Lexer<'_>, word: &Word, commands: &Commands) -> Option<Arc<dyn SlashCommand>> {
    let text = word.text();
    let name = text.strip_prefix('/');
    if let Some(command) = name.and_then(|name| commands.find(name)) {
        return Some(Arc::clone(command));
    }
    let help = match nearest(name.unwrap_or(&text), commands.names()) {
        Some(near) => format!("did you mean `/{near}`?"),
        None => known(commands),
    };
    let shown = shorten(&text);
    let message = match name {
        Some(_) => format!("unknown command `{shown}`"),
        None => format!("a command like `/log` must be here, but this is `{shown}`"),
    };
    line.error(word.span, message, help);
    None
}

fn known(commands: &Commands) -> String {
    let all: Vec<String> = commands.names().map(|name| format!("/{name}")).collect();
    format!("the commands are {}", all.join(", "))
}

fn complain(
    line: &mut Lexer<'_>,
    severity: Severity,
    command: &Word,
    arguments: &[Span],
    complaint: ArgumentProblem,
) {
    let span = match complaint.argument {
        None => command.span,
        Some(at) => arguments.get(at).copied().unwrap_or(line.end()),
    };
    let mut help = complaint.help;
    if complaint.argument.is_some_and(|at| at >= arguments.len()) && line.comment.is_some() {
        help = "a `#` at the beginning of a word begins a comment; put it in quotes to mean it".to_owned();
    }
    let message = format!("`{}`: {}", shorten(&command.text()), complaint.message);
    line.problems.push(LineProblem { severity, span, message, help });
}

/// Makes the callback of a line. When it runs, only values are filled in.
fn handler(command: Arc<dyn SlashCommand>, arguments: Vec<Argument>) -> Handler {
    let fixed: Option<Vec<String>> =
        arguments.iter().map(|argument| argument.literal().map(str::to_owned)).collect();
    let needs_wire = arguments.iter().any(Argument::needs_wire);
    Handler::Callback(Callback::Inline(match fixed {
        Some(texts) => Arc::new(move |call| command.run(&texts, call)),
        None => Arc::new(move |call| filled(&*command, &arguments, needs_wire, call)),
    }))
}

fn filled(command: &dyn SlashCommand, arguments: &[Argument], needs_wire: bool, call: Call<'_>) -> Answer {
    // An event that cannot be serialized has no fields. They must not look like empty fields.
    if needs_wire && let Err(failure) = call.event.wire() {
        return failure.clone().into();
    }
    let texts: Vec<String> = arguments.iter().map(|argument| argument.expand(call.event)).collect();
    command.run(&texts, call)
}
