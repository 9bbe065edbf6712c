//! Replies that cannot be understood without guessing: always the failure `bad_output`, never an allow.

use crosier::FailureKind;
use serde_json::json;

use super::lab::{Lab, each_way};

/// A hook writes exactly these bytes and exits with 0.
fn expect_bad(lab: &Lab, reply: impl AsRef<[u8]>, part_of_detail: &str) {
    lab.write("reply", reply);
    let trial = lab.shell("cat reply").fire();
    trial.failed_somehow(FailureKind::BadOutput);
    let detail = &trial.report().failure.as_ref().unwrap().detail;
    assert!(detail.contains(part_of_detail), "{detail}");
    assert!(detail.len() < 300, "the detail quotes the reply: {detail}");
}

macro_rules! bad {
    ($($name:ident: $reply:expr, $part_of_detail:expr;)*) => {
        $(
            #[test]
            fn $name() {
                each_way(|lab| expect_bad(lab, $reply, $part_of_detail));
            }
        )*
    };
}

bad! {
    an_open_brace_is_bad_output: "{", "EOF";
    half_a_deny_is_bad_output: r#"{"decision":"deny","reason":"n"#, "EOF";
    two_objects_are_bad_output: r#"{"decision":"allow"}{"decision":"deny"}"#, "there is text after the reply";
    two_lines_of_objects_are_bad_output: "{}\n{}\n", "there is text after the reply";
    an_array_is_bad_output: "[1]", "the reply is a list";
    a_bare_string_is_bad_output: r#""deny""#, "the reply is text";
    a_number_is_bad_output: "2", "the reply is a number";
    a_bare_word_is_bad_output: "deny", "the reply does not begin with a JSON object";
    a_banner_before_the_reply_is_bad_output: "loading…\n{\"decision\":\"allow\"}", "does not begin with a JSON object";
    text_behind_the_reply_is_bad_output: r#"{"decision":"allow"} done"#, "there is text after the reply";
    a_byte_order_mark_is_bad_output: "\u{feff}{\"decision\":\"allow\"}", "byte order mark";
    a_nul_before_the_reply_is_bad_output: "\0{\"decision\":\"allow\"}", "does not begin with a JSON object";
    a_nul_behind_the_reply_is_bad_output: "{\"decision\":\"allow\"}\0", "there is text after the reply";
    a_nul_in_a_string_is_bad_output: "{\"decision\":\"allow\",\"reason\":\"a\0b\"}", "control character";
    bytes_that_are_not_utf_8_are_bad_output: b"{\"reason\":\"\xff\"}", "not UTF-8 (byte 11)";
    utf_16_is_bad_output: b"{\0}\0", "";
    a_nesting_of_100_000_is_bad_output:
        format!("{{\"updatedInput\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)), "nested more than 128 deep";
    a_list_nested_100_000_deep_is_bad_output: "[".repeat(100_000), "the reply does not begin with a JSON object";
    a_key_that_stands_twice_is_bad_output: r#"{"decision":"deny","decision":"allow"}"#, "`decision` is in it twice";
    a_key_that_stands_twice_further_in_is_bad_output:
        r#"{"updatedInput":{"a":1,"a":2}}"#, "`a` is in it twice";
    a_number_out_of_range_is_bad_output: r#"{"updatedInput":{"a":1e309}}"#, "number out of range";
    nan_is_bad_output: r#"{"updatedInput":{"a":NaN}}"#, "expected value";
    an_unknown_decision_word_is_bad_output: r#"{"decision":"maybe"}"#, "unknown decision `maybe`";
    a_decision_word_in_capitals_is_bad_output: r#"{"decision":"Deny"}"#, "unknown decision `Deny`";
    a_decision_that_claude_code_alone_knows_is_bad_output:
        r#"{"hookSpecificOutput":{"permissionDecision":"defer"}}"#, "unknown decision `defer`";
    a_decision_of_the_wrong_type_is_bad_output: r#"{"decision":true}"#, "`decision` must be text";
    a_flag_of_the_wrong_type_is_bad_output: r#"{"continue":"false"}"#, "`continue` must be true or false";
    a_specific_output_of_the_wrong_type_is_bad_output: r#"{"hookSpecificOutput":[]}"#, "must be an object";
    the_name_of_another_event_is_bad_output:
        r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse"}}"#, "`hookEventName` is `PostToolUse`";
    a_key_that_is_nearly_known_is_bad_output: r#"{"descision":"deny"}"#, "did you mean `decision`?";
    an_unknown_inject_strategy_is_bad_output:
        r#"{"inject":{"content":"x","strategy":"everywhere"}}"#, "unknown inject strategy";
    modified_args_that_are_no_json_are_bad_output: r#"{"modified_args":"{"}"#, "`modified_args`";
}

#[test]
fn a_carriage_return_and_newline_around_a_reply_are_fine() {
    each_way(|lab| {
        lab.write("reply", "\r\n{\"decision\":\r\n\"deny\",\"reason\":\"no\"}\r\n");
        lab.shell("cat reply").fire().denied("no");
    });
}

#[test]
fn an_integer_of_40_digits_in_a_reply_keeps_its_digits() {
    each_way(|lab| {
        let digits = "1234567890".repeat(4);
        lab.write("reply", format!("{{\"updatedInput\":{{\"n\":{digits}}}}}"));
        let trial = lab.shell("cat reply").fire();
        trial.no_opinion();
        assert_eq!(trial.outcome.updated_input.unwrap().text(), format!("{{\"n\":{digits}}}"));
    });
}

#[test]
fn a_key_that_nobody_knows_is_listed_and_the_deny_stands() {
    each_way(|lab| {
        lab.write("reply", json!({"decision": "deny", "reason": "no", "flavour": 1}).to_string());
        let trial = lab.shell("cat reply").fire();
        trial.denied("no");
        assert_eq!(trial.report().ignored[0].effect, "key:flavour");
    });
}
