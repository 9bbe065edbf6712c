//! Tool calls of one turn, and files that are written.

use crosier::payload::{PreGitWrite, PreToolUse};
use crosier::{Hook, Reply};
use crosier_agent::agent::End;

use super::stage::Stage;

#[tokio::test]
async fn readers_run_together_while_their_hooks_run_in_order() {
    let script = "- tools: [{name: Read, input: {n: 1}}, {name: Read, input: {n: 2}}, {name: Read, input: {n: 3}}]\n- say: done\n";
    let mut stage = Stage::new(script);
    // None of them is done before all of them run.
    stage.readers = 3;
    let played = stage.play("go").await;
    assert_eq!(played.end, End::Done);
    let inputs = [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#];
    assert_eq!(played.field("PreToolUse", "tool_input"), inputs);
    assert_eq!(played.field("PostToolUse", "tool_input"), inputs);
    let calls = &played.events()[5..11];
    assert_eq!(calls[..3], ["PreToolUse"; 3]);
    assert_eq!(calls[3..], ["PostToolUse"; 3]);
}

#[tokio::test]
async fn a_denied_reader_does_not_shift_the_results_of_the_others() {
    let script = "- tools: [{name: Read, input: {n: 1}}, {name: Read, input: {n: 2}}, {name: Read, input: {n: 3}}]\n- say: done\n";
    let deny = Hook::on(PreToolUse)
        .callback(|e: &PreToolUse| e.tool_input.text().contains('2').then(|| Reply::deny("not this")));
    let played = Stage::new(script).hook(deny).play("go").await;
    let results: Vec<String> = played.results().into_iter().map(|(content, _)| content).collect();
    assert_eq!(results, [r#"{"n":1}"#, "Error: not this", r#"{"n":3}"#]);
}

const TWO_WRITES: &str = "- tools: [{name: Write, input: {path: a.txt, content: one}}]\n\
    - tools: [{name: Edit, input: {path: a.txt, old: one, new: two}}]\n- say: done\n";

#[tokio::test]
async fn every_file_goes_through_its_hooks_and_into_the_history() {
    let mut stage = Stage::new(TWO_WRITES);
    stage.git = true;
    let played = stage.play("go").await;
    let call = ["PreToolUse", "PreGitWrite", "PostGitWrite", "PostToolUse"];
    let message = ["PreMessage", "PostMessage"];
    let wanted = [
        &["SessionStart", "Setup", "UserPromptSubmit"][..],
        &message,
        &call,
        &message,
        &call,
        &message,
        &["Stop", "SessionEnd"],
    ];
    assert_eq!(played.events(), wanted.concat(), "{:?}", played.results());
    assert_eq!(played.field("PreGitWrite", "content"), ["one", "two"]);
    let history = played.session_context.history.as_ref().unwrap();
    let commits = played.field("PostGitWrite", "commit");
    for (commit, content) in commits.iter().zip(["one", "two"]) {
        assert_eq!(history.show(commit, "a.txt").await.unwrap(), content.as_bytes());
    }
    let workspace = &played.session_context.settings.workspace;
    assert_eq!(std::fs::read_to_string(workspace.join("a.txt")).unwrap(), "two");
    assert!(!workspace.join(".git").exists());
}

#[tokio::test]
async fn a_hook_changes_or_denies_what_is_written() {
    let script = "- tools: [{name: Write, input: {path: a.txt, content: one}}, {name: Write, input: {path: key.pem, content: k}}]\n- say: done\n";
    let header = Hook::on(PreGitWrite).callback(|e: &PreGitWrite| {
        (e.path == "a.txt").then(|| Reply::none().rewrite_input(format!("# kept\n{}", e.content)))
    });
    let deny = Hook::on(PreGitWrite)
        .named("keys")
        .matching("*.pem")
        .callback(|_: &PreGitWrite| Reply::deny("no keys here"));
    let played = Stage::new(script).hook(header).hook(deny).play("go").await;
    let results = played.results();
    assert!(results[0].0.ends_with("; a hook changed what was written") && !results[0].1, "{results:?}");
    assert_eq!(results[1], ("Error: no keys here".to_owned(), true));
    let workspace = &played.session_context.settings.workspace;
    assert_eq!(std::fs::read_to_string(workspace.join("a.txt")).unwrap(), "# kept\none");
    assert!(!workspace.join("key.pem").exists());
    // Without a history there is no commit to tell of.
    assert!(!played.events().contains(&"PostGitWrite"));
    assert_eq!(played.field("PostToolUseFailure", "error"), ["no keys here"]);
}

#[tokio::test]
async fn a_write_out_of_the_workspace_is_refused_before_any_hook_sees_it() {
    let script = "- tools: [{name: Write, input: {path: ../a.txt, content: one}}]\n- say: done\n";
    let mut stage = Stage::new(script);
    stage.git = true;
    let played = stage.play("go").await;
    assert!(played.results()[0].1);
    assert!(!played.events().contains(&"PreGitWrite"));
    assert!(!played.folder.path().join("a.txt").exists());
}
