//! A host of one's own: a tiny agent loop that fires three events and does what their gates say.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use crosier::config::Loader;
use crosier::payload::{PostToolUse, PreToolUse, Stop};
use crosier::{
    Catalog, Engine, Gates, Hook, OutputGate, PendingContext, Reply, StopGate, Strategy, ToolGate,
};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Hooks in code: a guard, something for the tool's result, and a reason to go on.
    let guard =
        Hook::on(PreToolUse).named("no-rm").matching("Bash|shell").priority(10).callback(|e: &PreToolUse| {
            e.tool_input.text().contains("rm -rf").then(|| Reply::deny("no rm -rf here"))
        });
    let hint = Hook::on(PostToolUse).named("hint").callback(|_: &PostToolUse| {
        Reply::default().inject(Strategy::ToolResult, "(3 files)").context("Be brief.")
    });
    let once = Hook::on(Stop)
        .named("once-more")
        .callback(|e: &Stop| (!e.stop_hook_active).then(|| Reply::resume("write a summary")));
    // Hooks from a configuration run beside them, in one order.
    let config =
        Loader::new(Catalog::default()).text("hooks.yaml", include_str!("hooks.yaml"), "/").load()?;
    let engine = Engine::builder().config(config).hooks([guard, hint, once]).build()?;

    let mut context = PendingContext::default();
    for command in ["ls", "git push", "rm -rf build"] {
        let call = PreToolUse::new("Bash", json!({"command": command}));
        let outcome = engine.fire_blocking(call.clone());
        context.collect(&outcome);
        match outcome.tool_gate() {
            ToolGate::Halt(why) => return Err(why.reason.to_string().into()),
            ToolGate::Deny(refusal) => println!("{command}: denied by {}: {}", refusal.by, refusal.reason),
            ToolGate::Ask { reason, .. } => {
                println!("{command}: a person decides: {}", reason.unwrap_or_default())
            }
            // Here the tool would run, with the input that hooks may have rewritten.
            ToolGate::Allow(_) | ToolGate::Proceed(_) => {
                let outcome =
                    engine.fire_blocking(PostToolUse::new(call.tool_name, call.tool_input, json!("a b c")));
                context.collect(&outcome);
                let gate = outcome.result_gate();
                let mut result = match gate.output {
                    OutputGate::Keep => "a b c".to_owned(),
                    OutputGate::Replace(other) => other.plain().into_owned(),
                    OutputGate::Suppress => "(hidden)".to_owned(),
                };
                for injected in gate.inject {
                    result = format!("{result}\n{}", injected.content);
                }
                println!("{command}: {result}");
            }
        }
    }
    println!("next prompt: {:?}", context.apply("You are an agent."));

    let mut stop = Stop::default();
    while let StopGate::Resume(why) = engine.fire_blocking(stop.clone()).stop_gate() {
        println!("not yet: {}", why.reason);
        stop.stop_hook_active = true;
    }
    println!("stopped");
    Ok(())
}
