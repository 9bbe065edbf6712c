//! Repairs a conversation that was cut off: model services require a result for every call.

use crate::conversation::{Block, Message, Role};

/// Adds a result after every call that has none.
pub(super) fn repair(messages: Vec<Message>) -> Vec<Message> {
    let mut mended: Vec<Message> = Vec::with_capacity(messages.len());
    let mut messages = messages.into_iter().peekable();
    while let Some(message) = messages.next() {
        let mut open: Vec<String> = message.content.iter().filter_map(call).collect();
        mended.push(message);
        let mut answers = Vec::new();
        // Every message before the model's next one may contain results.
        while let Some(next) = messages.next_if(|next| next.role == Role::User) {
            open.retain(|id| !next.content.iter().any(|block| answers_to(block, id)));
            answers.push(next);
        }
        if !open.is_empty() {
            let result = |id| Block::ToolResult {
                tool_use_id: id,
                content: "Error: the result is unknown, because the session was interrupted here".to_owned(),
                is_error: true,
            };
            // Results come first, then what was said after the interruption.
            mended.push(Message { role: Role::User, content: open.into_iter().map(result).collect() });
        }
        mended.extend(answers);
    }
    mended
}

fn call(block: &Block) -> Option<String> {
    match block {
        Block::ToolUse { id, .. } => Some(id.clone()),
        Block::Text { .. } | Block::ToolResult { .. } => None,
    }
}

fn answers_to(block: &Block, call: &str) -> bool {
    matches!(block, Block::ToolResult { tool_use_id, .. } if tool_use_id == call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(ids: &[&str]) -> Message {
        let call =
            |id: &&str| Block::ToolUse { id: (*id).into(), name: "T".into(), input: Default::default() };
        Message { role: Role::Assistant, content: ids.iter().map(call).collect() }
    }

    fn result(id: &str) -> Message {
        let block = Block::ToolResult { tool_use_id: id.into(), content: "ok".into(), is_error: false };
        Message { role: Role::User, content: vec![block] }
    }

    #[test]
    fn a_whole_conversation_stays_as_it_is() {
        let whole = vec![
            Message::user("a"),
            calls(&["1", "2"]),
            result("1"),
            result("2"),
            Message::user("b"),
            calls(&[]),
        ];
        assert_eq!(repair(whole.clone()), whole);
    }

    #[test]
    fn a_call_without_a_result_gets_one_where_it_belongs() {
        let mended = repair(vec![
            Message::user("a"),
            calls(&["1", "2"]),
            result("2"),
            Message::user("b"),
            calls(&["3"]),
        ]);
        assert_eq!(mended.len(), 7, "{mended:?}");
        assert!(
            answers_to(&mended[2].content[0], "1") && answers_to(&mended[6].content[0], "3"),
            "{mended:?}"
        );
        assert_eq!(repair(mended.clone()), mended);
    }
}
