use super::*;
use crate::event::Catalog;
use proptest::prelude::*;

fn decode(event: &str, text: &str) -> Decoded<Reply> {
    reply(text.as_bytes(), &Catalog::default().find(event).unwrap())
}

fn effects(event: &str, text: &str) -> Effects {
    decode(event, text).unwrap().into_effects().unwrap_or_default()
}

fn refused(text: &str) -> String {
    decode("PreToolUse", text).unwrap_err().detail
}

#[test]
fn nothing_null_and_an_empty_object_are_no_opinion() {
    for text in ["", " \n", "null", "{}", r#"{"reason":null,"decision":null,"inject":null}"#] {
        assert_eq!(decode("PreToolUse", text).unwrap(), Reply::none(), "{text}");
    }
}

#[test]
fn each_family_says_deny_in_its_own_words() {
    for text in [
        r#"{"decision":"deny","reason":"r"}"#,
        r#"{"decision":"block","reason":"r"}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}"#,
        r#"{"permissionDecision":"deny","reason":"r"}"#,
        r#"{"allowed":false,"reason":"r"}"#,
        r#"{"abort":true,"reason":"r"}"#,
        r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"r"}}}"#,
        r#"{"decision":"approve","allowed":false,"reason":"r"}"#,
    ] {
        let opinion = effects("PreToolUse", text).opinion.unwrap();
        assert_eq!(opinion, Opinion { decision: Decision::Deny, reason: Some("r".into()) }, "{text}");
    }
}

#[test]
fn the_reason_of_the_strictest_decision_is_its_own() {
    let text = r#"{"decision":"approve","reason":"fine","hookSpecificOutput":
        {"permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    assert_eq!(effects("PreToolUse", text).opinion.unwrap().reason.unwrap(), "no");
}

#[test]
fn modified_args_win_wherever_they_stand() {
    for text in [
        r#"{"modified_args":"{\"a\":1}","updated_input":{"b":2}}"#,
        r#"{"updated_input":{"b":2},"modified_args":"{\"a\":1}"}"#,
    ] {
        let rewrites = effects("PreToolUse", text).rewrites;
        assert_eq!(rewrites.len(), 1);
        assert_eq!(rewrites[0].value.text(), r#"{"a":1}"#);
    }
}

#[test]
fn digits_of_a_rewrite_survive() {
    let text = r#"{"updatedInput":{"n":1234567890123456789012345678901234567890}}"#;
    assert!(
        effects("PreToolUse", text).rewrites[0]
            .value
            .text()
            .contains("1234567890123456789012345678901234567890")
    );
}

#[test]
fn what_is_unclear_is_refused_with_the_reason() {
    for (text, part) in [
        ("{", "not a JSON object"),
        ("[1]", "a list"),
        ("\"deny\"", "text; write one JSON object"),
        ("hello {}", "does not begin with a JSON object"),
        ("{} done", "after the reply"),
        ("{}{}", "after the reply"),
        ("\u{feff}{}", "byte order mark"),
        (r#"{"decision":"Deny"}"#, "unknown decision `Deny`"),
        (r#"{"decision":"defer"}"#, "unknown decision"),
        (r#"{"decision":1}"#, "`decision` must be text, but it is a number"),
        (r#"{"continue":"false"}"#, "`continue` must be true or false"),
        (r#"{"descision":"deny"}"#, "did you mean `decision`?"),
        (r#"{"hookSpecificOutput":{"permissiondecision":"deny"}}"#, "did you mean `permissionDecision`?"),
        (r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#, "but this is PreToolUse"),
        (r#"{"decision":"allow","decision":"deny"}"#, "is in it twice"),
        (r#"{"updatedInput":{"a":1,"a":2}}"#, "is in it twice"),
        (r#"{"updatedInput":"ls"}"#, "`updatedInput` must be an object"),
        (r#"{"updatedInput":{"n":1e309}}"#, "out of range"),
        (r#"{"inject":{"content":"x","strategy":"shout"}}"#, "unknown inject strategy `shout`"),
        (r#"{"inject":{"strategy":"tool_result"}}"#, "no `content`"),
        (r#"{"async":true,"asyncTimeout":5000}"#, "a number of seconds"),
        (r#"{"modified_args":"{"}"#, "not JSON text"),
        (r#"{"decision":{"message":"x"}}"#, "without `behavior`"),
    ] {
        assert!(refused(text).contains(part), "{text}: {}", refused(text));
    }
    assert!(reply(&[b'{', 0xff, b'}'], &Catalog::default().find("Stop").unwrap()).is_err());
}

#[test]
fn nesting_of_128_is_read_and_129_is_not() {
    let nested = |levels: usize| {
        format!(r#"{{"updatedInput":{{"a":{}{}}}}}"#, "[".repeat(levels - 2), "]".repeat(levels - 2))
    };
    assert!(decode("PreToolUse", &nested(128)).is_ok());
    assert!(refused(&nested(129)).contains("nested more than 128"));
    assert!(refused(&nested(100_000)).contains("nested more than 128"));
}

#[test]
fn foreign_keys_are_listed() {
    assert_eq!(effects("PreToolUse", r#"{"colour":"red"}"#).unknown, ["colour"]);
}

#[test]
fn a_denial_is_not_put_off_by_async() {
    let effects = effects("PreToolUse", r#"{"async":true,"decision":"deny"}"#);
    assert_eq!(effects.again, None);
}

#[test]
fn system_message_comes_before_additional_context() {
    let text = r#"{"hookSpecificOutput":{"additionalContext":"b"},"systemMessage":"a"}"#;
    assert_eq!(effects("SessionStart", text).context, ["a", "b"]);
}

proptest! {
    #[test]
    fn what_is_plain_would_pass_the_walk(
        members in proptest::collection::vec(
            (r#"a|b|\PC|\\ud800|\\u0061|\\q"#, r#"null|true|tru|1|1e999|-|\{\}|\[\[\]|"\PC{0,3}"|"\\ud800"|"\\x""#), 0..10),
        end in "\\}|\\} |\\},|",
    ) {
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        let text = format!("{{{}{end}", members.join(","));
        if json::readable_entries(&text).is_ok_and(|entries| is_plain(&entries)) {
            prop_assert!(strict(&text).is_ok(), "{text}: {:?}", strict(&text));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = reply(&bytes, &Catalog::default().find("PreToolUse").unwrap());
    }

    #[test]
    fn any_json_like_text_is_read_or_refused(text in r#"[\[\]{}",:a-z0-9 \\.e-]{0,80}"#) {
        let _ = decode("PreToolUse", &text);
    }

    /// A deny with any of the keys counts, whatever else the reply says, as long as the reply can be decoded.
    #[test]
    fn a_deny_in_a_reply_is_never_softened(other in "allow|approve|ask", first in any::<bool>(), go_on in any::<bool>()) {
        let (a, b) = (format!(r#""decision":"{other}""#), r#""permissionDecision":"deny""#.to_owned());
        let (a, b) = if first { (b, a) } else { (a, b) };
        let text = format!(r#"{{{a},{b},"allowed":true,"continue":{go_on}}}"#);
        prop_assert!(decode("PreToolUse", &text).unwrap().denies());
    }
}
