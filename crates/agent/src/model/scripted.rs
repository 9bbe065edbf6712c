//! A model that reads its answers from a script: for demonstrations and tests, without a network or a key.
//!
//! # The script
//! A YAML list of turns:
//! ```yaml
//! - when: tests pass          # optional: only when the newest message contains this text
//!   say: I will look.         # text
//!   tools:                    # tool calls, in order
//!     - {name: Bash, input: {command: ls}}
//!   repeat: true              # optional: may be used more than once
//! ```
//! Each request takes the first remaining turn whose `when` matches.

use std::sync::{Arc, Mutex, PoisonError};

use crosier::Json;
use crosier::config::{Node, Problem, Problems, Source, parse_document};

use super::{Model, ModelError, ModelFuture, ModelRequest, OnText, StopReason, Turn, Usage};
use crate::conversation::Block;

/// A model with a script.
#[derive(Debug)]
pub struct Scripted {
    turns: Mutex<Vec<ScriptedTurn>>,
}

#[derive(Debug)]
struct ScriptedTurn {
    when: Option<String>,
    say: Option<String>,
    tools: Vec<(String, Json)>,
    repeat: bool,
    used: usize,
}

impl Scripted {
    /// Reads a script.
    ///
    /// # Errors
    /// All problems in it, with their positions.
    pub fn parse(name: &str, text: &str) -> Result<Self, Problems> {
        let source = Source::new(name, text);
        let node = parse_document(&source)?;
        let mut problems = Problems::new();
        let mut turns = Vec::new();
        match node.as_list() {
            Some(items) => turns.extend(items.iter().filter_map(|item| turn(&source, item, &mut problems))),
            None => {
                let message = format!("a script is a list of turns, but this is {}", node.kind_word());
                problems.push(Problem::error(&source, node.span, message));
            }
        }
        if problems.is_empty() { Ok(Self { turns: Mutex::new(turns) }) } else { Err(problems) }
    }

    fn answer(&self, request: ModelRequest<'_>) -> Result<Turn, ModelError> {
        let newest = request.messages.last().map(|message| {
            let texts = message.content.iter().map(|block| match block {
                Block::Text { text } => text.as_str(),
                Block::ToolResult { content, .. } => content.as_str(),
                Block::ToolUse { .. } => "",
            });
            texts.collect::<Vec<_>>().join("\n")
        });
        let newest = newest.unwrap_or_default();
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |turn: &&mut ScriptedTurn| {
            let left = turn.repeat || turn.used == 0;
            left && turn.when.as_ref().is_none_or(|when| newest.contains(when.as_str()))
        };
        let turn = turns.iter_mut().find(fits).ok_or(ModelError::OutOfTurns)?;
        turn.used += 1;
        let calls = turn.tools.iter().enumerate().map(|(number, (name, input))| Block::ToolUse {
            id: format!("call-{}-{number}", uuid::Uuid::now_v7().simple()),
            name: name.clone(),
            input: input.clone(),
        });
        let content: Vec<Block> = turn.say.iter().map(Block::text).chain(calls).collect();
        let stop = if turn.tools.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
        Ok(Turn { content, stop, usage: Usage::default() })
    }
}

fn turn(source: &Arc<Source>, node: &Node, problems: &mut Problems) -> Option<ScriptedTurn> {
    let mut complain = |span, message: String| problems.push(Problem::error(source, span, message));
    let Some(entries) = node.as_map() else {
        complain(node.span, format!("a turn is a mapping, but this is {}", node.kind_word()));
        return None;
    };
    let mut turn = ScriptedTurn { when: None, say: None, tools: Vec::new(), repeat: false, used: 0 };
    for entry in entries {
        let value = &entry.value;
        match entry.key.as_str() {
            "when" => turn.when = value.as_text().map(str::to_owned),
            "say" => turn.say = value.as_text().map(str::to_owned),
            "repeat" => turn.repeat = value.as_bool().unwrap_or(false),
            "tools" => {
                for call in value.as_list().unwrap_or_default() {
                    let input = call.get("input").map_or_else(|| "{}".to_owned(), Node::to_json);
                    match (call.get("name").and_then(Node::as_text), Json::parse(&input)) {
                        (Some(name), Ok(input)) => turn.tools.push((name.to_owned(), input)),
                        _ => complain(
                            call.span,
                            "a tool call needs a `name` and perhaps an `input`".to_owned(),
                        ),
                    }
                }
            }
            other => {
                let near = crosier::protocol::nearest::nearest(other, ["when", "say", "tools", "repeat"]);
                let near = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
                complain(entry.key_span, format!("unknown key `{other}` of a turn{near}"));
            }
        }
    }
    Some(turn)
}

impl Model for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn turn<'a>(&'a self, request: ModelRequest<'a>, on_text: OnText<'a>) -> ModelFuture<'a> {
        let answer = self.answer(request);
        if let Ok(turn) = &answer {
            for block in &turn.content {
                if let Block::Text { text } = block {
                    on_text(text);
                }
            }
        }
        Box::pin(std::future::ready(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Message;

    fn ask(model: &Scripted, text: &str) -> Result<Turn, ModelError> {
        let messages = [Message::user(text)];
        model.answer(ModelRequest { system: "", messages: &messages, tools: &[], max_tokens: 1 })
    }

    #[test]
    fn turns_are_taken_in_order_when_they_fit() {
        let model = Scripted::parse(
            "s",
            "- {when: two, say: second}\n- {say: first}\n- {when: x, say: r, repeat: true}",
        );
        let model = model.unwrap();
        assert_eq!(ask(&model, "one").unwrap().content, [Block::text("first")]);
        assert_eq!(ask(&model, "one"), Err(ModelError::OutOfTurns));
        assert_eq!(ask(&model, "two").unwrap().content, [Block::text("second")]);
        for _ in 0..3 {
            assert_eq!(ask(&model, "x").unwrap().stop, StopReason::EndTurn);
        }
    }

    #[test]
    fn mistakes_have_a_place_and_a_remedy() {
        let problems =
            Scripted::parse("s.yaml", "- {sya: hi}\n- [1]\n- tools: [{input: {}}]").unwrap_err().to_string();
        assert!(problems.contains("s.yaml:1:4") && problems.contains("did you mean `say`?"), "{problems}");
        assert!(
            problems.contains("a turn is a mapping") && problems.contains("needs a `name`"),
            "{problems}"
        );
    }
}
