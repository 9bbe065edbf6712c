//! The reply grammar: what a hook writes is read without guessing, and a deny in it is never softened.

use crosier_protocol::event::{Catalog, TABLE};
use crosier_protocol::reply::REPLY_KEYS;
use crosier_protocol::{Decision, EventRow, FailureKind, Reply, Target};
use proptest::prelude::*;
use serde_json::Value;

fn row(name: &str) -> &'static EventRow {
    TABLE.iter().find(|row| row.name == name).unwrap()
}

fn decode(event: &str, text: &str) -> Result<Reply, String> {
    Reply::decode(text.as_bytes(), row(event)).map_err(|failure| {
        assert_eq!(failure.kind, FailureKind::BadOutput);
        failure.detail
    })
}

#[test]
fn every_known_key_is_read_or_refused_but_never_unknown() {
    for key in REPLY_KEYS {
        for value in ["1", "true", "\"x\"", "{}", "[]", "0.5"] {
            match decode("PreToolUse", &format!("{{\"{key}\":{value}}}")) {
                Ok(reply) => {
                    let effects = reply.into_effects().unwrap_or_default();
                    assert!(effects.unknown.is_empty(), "{key}: {:?}", effects.unknown);
                }
                Err(detail) => assert!(!detail.contains("unknown key"), "{key}: {detail}"),
            }
        }
    }
}

#[test]
fn every_known_key_with_a_typo_is_refused_and_named() {
    for key in REPLY_KEYS {
        let typo = format!("{key}x");
        let detail = decode("PreToolUse", &format!("{{\"{typo}\":null,\"{typo}\":1}}")).unwrap_err();
        assert!(detail.contains("twice"), "{detail}");
        let detail = decode("PreToolUse", &format!("{{\"{typo}\":1}}")).unwrap_err();
        assert!(detail.contains("did you mean"), "{key}: {detail}");
    }
}

#[test]
fn a_rewrite_must_fit_the_field_that_it_replaces() {
    for (event, text) in [
        ("PreMessage", r#"{"updatedInput":1}"#),
        ("PreMessage", r#"{"updated_input":{"a":1}}"#),
        ("PreMessage", r#"{"modify":{"prompt":null}}"#),
        ("PreGitWrite", r#"{"modify":{"content":["a"]}}"#),
        ("PreCompact", r#"{"custom_instructions":5}"#),
        ("PreToolUse", r#"{"updatedInput":"ls"}"#),
        ("PreToolUse", r#"{"modified_args":"[1]"}"#),
        ("PermissionRequest", r#"{"decision":{"behavior":"allow","updatedInput":"ls"}}"#),
        ("PostMessage", r#"{"updatedToolOutput":5}"#),
        ("PostMessage", r#"{"updatedMCPToolOutput":{"a":1}}"#),
        ("PostMessage", r#"{"modify":{"output":false}}"#),
    ] {
        let detail = decode(event, text).unwrap_err();
        assert!(detail.contains("must be"), "{event} {text}: {detail}");
    }
    for (event, text) in [
        ("PreMessage", r#"{"updatedInput":"hi"}"#),
        ("PostMessage", r#"{"updatedToolOutput":"hi"}"#),
        ("PostToolUse", r#"{"updatedToolOutput":5}"#),
        ("PostToolUse", r#"{"modify":{"result":[1]}}"#),
        // Not this event's: listed when it is folded, not refused.
        ("PostToolUse", r#"{"updatedInput":"ls"}"#),
        ("Stop", r#"{"updatedToolOutput":5}"#),
    ] {
        assert_eq!(decode(event, text).unwrap().effects().unwrap().rewrites.len(), 1, "{event} {text}");
    }
}

#[test]
fn modify_names_the_fields_of_the_wire() {
    for (event, key, field, value) in [
        ("PreToolUse", "args", "tool_input", "{}"),
        ("PreToolUse", "tool", "tool_name", "\"x\""),
        ("PostToolUse", "result", "tool_response", "\"x\""),
        ("PostAgentComplete", "result", "result", "\"x\""),
        ("PreMessage", "prompt", "prompt", "\"x\""),
        ("PreViewRender", "view", "view", "\"x\""),
    ] {
        let reply = decode(event, &format!("{{\"modify\":{{\"{key}\":{value}}}}}")).unwrap();
        assert_eq!(reply.effects().unwrap().rewrites[0].target, Target::Field(field.to_owned()));
    }
}

#[test]
fn the_event_in_a_reply_may_be_named_by_its_alias() {
    for name in ["PreToolUse", "pre:tool"] {
        assert!(decode("PreToolUse", &format!("{{\"hookEventName\":\"{name}\"}}")).is_ok());
    }
    assert!(decode("PreToolUse", r#"{"hookEventName":"post:tool"}"#).is_err());
}

#[test]
fn async_has_its_default_its_limit_and_its_unit() {
    let again = |text: &str| decode("PreToolUse", text).map(|r| r.into_effects().unwrap_or_default().again);
    assert_eq!(again(r#"{"async":true}"#).unwrap().unwrap().as_secs(), 30);
    assert_eq!(again(r#"{"asyncTimeout":600,"async":true}"#).unwrap().unwrap().as_secs(), 600);
    assert_eq!(again(r#"{"async":true,"asyncTimeout":0.25}"#).unwrap().unwrap().as_millis(), 250);
    assert_eq!(again(r#"{"async":false,"asyncTimeout":5}"#), Ok(None));
    assert_eq!(again(r#"{"asyncTimeout":5}"#), Ok(None));
    for bad in ["600.1", "60000", "0", "-1", "\"5\"", "1e300"] {
        let detail = again(&format!("{{\"async\":true,\"asyncTimeout\":{bad}}}")).unwrap_err();
        assert!(detail.contains("seconds"), "{bad}: {detail}");
    }
}

/// Words in the places where a decision can stand.
#[derive(Debug, Clone)]
struct Said {
    decision: Option<&'static str>,
    behavior: Option<&'static str>,
    permission: Option<&'static str>,
    inner_decision: Option<&'static str>,
    inner_behavior: Option<&'static str>,
    inner_permission: Option<&'static str>,
    allowed: Option<bool>,
    abort: Option<bool>,
    noise: Vec<&'static str>,
    order: u64,
}

fn word() -> impl Strategy<Value = Option<&'static str>> {
    proptest::option::of(proptest::sample::select(vec!["allow", "approve", "ask", "deny", "block"]))
}

/// Members that have nothing to do with a decision and are right at PreToolUse.
const NOISE: [&str; 14] = [
    r#""reason":"because""#,
    r#""continue":false"#,
    r#""continue":true"#,
    r#""stopReason":"stop""#,
    r#""suppressOutput":true"#,
    r#""systemMessage":"hello""#,
    r#""updatedInput":{"decision":"allow"}"#,
    r#""updated_input":{"allowed":true}"#,
    r#""modified_args":"{}""#,
    r#""modify":{"args":{}}"#,
    r#""inject":[{"content":"deny"}]"#,
    r#""async":true"#,
    r#""asyncTimeout":5"#,
    r#""colour":{"decision":"deny"}"#,
];

fn said() -> impl Strategy<Value = Said> {
    let outer = (word(), word(), word());
    let inner = (word(), word(), word());
    let bools = (proptest::option::of(any::<bool>()), proptest::option::of(any::<bool>()));
    let noise = proptest::sample::subsequence(NOISE.to_vec(), 0..=NOISE.len());
    (outer, inner, bools, noise, any::<u64>()).prop_map(|(outer, inner, bools, noise, order)| Said {
        decision: outer.0,
        behavior: outer.1,
        permission: outer.2,
        inner_decision: inner.0,
        inner_behavior: inner.1,
        inner_permission: inner.2,
        allowed: bools.0,
        abort: bools.1,
        noise,
        order,
    })
}

/// `decision` holds a word or an object with `behavior`, never both.
fn decision(word: Option<&str>, behavior: Option<&str>) -> Option<String> {
    match (word, behavior) {
        (_, Some(behavior)) => Some(format!(r#""decision":{{"behavior":"{behavior}","message":"m"}}"#)),
        (Some(word), None) => Some(format!(r#""decision":"{word}""#)),
        (None, None) => None,
    }
}

fn permission(word: Option<&str>) -> Option<String> {
    word.map(|word| format!(r#""permissionDecision":"{word}""#))
}

/// An order that depends on nothing but the seed.
fn shuffle(members: &mut [String], mut seed: u64) {
    for at in (1..members.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = usize::try_from(seed >> 33).unwrap() % (at + 1);
        members.swap(at, other);
    }
}

impl Said {
    fn text(&self) -> String {
        let mut inner: Vec<String> = decision(self.inner_decision, self.inner_behavior)
            .into_iter()
            .chain(permission(self.inner_permission))
            .chain(Some(r#""additionalContext":"c""#.to_owned()))
            .collect();
        shuffle(&mut inner, self.order);
        let mut members: Vec<String> = decision(self.decision, self.behavior)
            .into_iter()
            .chain(permission(self.permission))
            .chain(self.allowed.map(|allowed| format!(r#""allowed":{allowed}"#)))
            .chain(self.abort.map(|abort| format!(r#""abort":{abort}"#)))
            .chain(Some(format!(r#""hookSpecificOutput":{{{}}}"#, inner.join(","))))
            .collect();
        for noise in &self.noise {
            let key = noise.split(':').next().unwrap();
            if !members.iter().any(|member| member.starts_with(key)) {
                members.push((*noise).to_owned());
            }
        }
        shuffle(&mut members, self.order);
        format!("{{{}}}", members.join(", "))
    }
}

/// The strictest decision that stands anywhere in a reply, found without the decoder.
fn strictest(reply: &Value) -> Option<Decision> {
    let word = |value: &Value| match value.as_str() {
        Some("allow" | "approve") => Some(Decision::Allow),
        Some("ask") => Some(Decision::Ask),
        Some("deny" | "block") => Some(Decision::Deny),
        _ => None,
    };
    let of = |value: &Value| {
        let decision = &value["decision"];
        word(decision).max(word(&decision["behavior"])).max(word(&value["permissionDecision"]))
    };
    let denied = reply["allowed"] == false || reply["abort"] == true;
    of(reply).max(of(&reply["hookSpecificOutput"])).max(denied.then_some(Decision::Deny))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn the_strictest_word_wins_wherever_it_stands(said in said()) {
        let text = said.text();
        let effects = decode("PreToolUse", &text).unwrap().into_effects().unwrap_or_default();
        let wanted = strictest(&serde_json::from_str(&text).unwrap());
        prop_assert_eq!(effects.opinion.as_ref().map(|opinion| opinion.decision), wanted, "{}", text);
        if wanted == Some(Decision::Deny) {
            prop_assert_eq!(effects.again, None, "a denial is not put off: {}", text);
        }
    }

    #[test]
    fn no_event_softens_a_deny(said in said(), event in 0..TABLE.len()) {
        let text = said.text();
        let denied = strictest(&serde_json::from_str(&text).unwrap()) == Some(Decision::Deny);
        if let Ok(reply) = Reply::decode(text.as_bytes(), &TABLE[event]) {
            prop_assert!(!denied || reply.denies(), "{}", text);
        }
    }

    /// Whatever breaks on the way from the hook: what is still read as a reply has no weaker decision than
    /// what stands in it.
    #[test]
    fn a_broken_reply_is_never_read_as_a_weaker_one(
        said in said(),
        cut in proptest::option::of(any::<prop::sample::Index>()),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let mut bytes = said.text().into_bytes();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        if let Ok(reply) = Reply::decode(&bytes, row("PreToolUse")) {
            let inside = match serde_json::from_slice::<Value>(&bytes) {
                Ok(value) => strictest(&value),
                Err(_) => None,
            };
            let read = reply.effects().and_then(|effects| effects.opinion.as_ref()).map(|o| o.decision);
            prop_assert!(read >= inside, "{}", String::from_utf8_lossy(&bytes));
        }
    }

    /// Only an object, nothing and null are replies at all.
    #[test]
    fn any_bytes_are_read_or_refused_for_every_event(
        bytes in proptest::collection::vec(any::<u8>(), 0..120), event in 0..TABLE.len(),
    ) {
        let trimmed = bytes.trim_ascii();
        if Reply::decode(&bytes, &TABLE[event]).is_ok() {
            let is_reply = trimmed.is_empty() || trimmed == b"null" || trimmed.first() == Some(&b'{');
            prop_assert!(is_reply);
        }
    }
}

#[test]
fn a_row_of_a_host_is_read_like_any_other() {
    let mut catalog = Catalog::default();
    let kind = catalog.add(EventRow::new("Deploy", "a deployment")).unwrap();
    assert!(Reply::decode(br#"{"decision":"deny"}"#, &kind).unwrap().denies());
    assert!(Reply::decode(br#"{"hookEventName":"Stop"}"#, &kind).is_err());
}
