//! Commands of a host.

use crosier_protocol::Reply;
use serde_json::json;

use super::super::super::{Config, Loader};
use super::super::script_tests::{engine, fire};
use super::*;

/// A command of a host that takes one literal word and replies with it.
struct Echo;

impl SlashCommand for Echo {
    fn name(&self) -> &str {
        "/echo"
    }
    fn check(&self, args: &[Argument]) -> Result<(), ArgumentProblem> {
        expect_arguments(args, &["WHAT"])?;
        match args.first().and_then(Argument::literal) {
            Some("bad") => {
                Err(ArgumentProblem::new("not that").at_argument(0).with_help("say something else"))
            }
            Some("worse") => Err("not this line".into()),
            _ => Ok(()),
        }
    }
    fn lint(&self, _: &[Argument], event: &EventRow) -> Vec<ArgumentProblem> {
        if event.name == "Stop" { vec![ArgumentProblem::new("nobody listens")] } else { Vec::new() }
    }
    fn run(&self, args: &[String], call: Call<'_>) -> Answer {
        Reply::none().context(format!("{}@{}", args.join(","), call.hook)).into()
    }
}

fn with_echo(line: &str) -> Result<Config, String> {
    let config = format!(r#"{{"hooks":{{"Stop":[{{"run":{},"name":"h"}}]}}}}"#, json!(line));
    let loader = Loader::default().lint().slash_command(Echo).text("c", &config, "/");
    loader.load().map_err(|problems| problems.to_string())
}

#[test]
fn a_host_command_is_checked_linted_and_run_like_any_other() {
    let config = with_echo("/echo \"$agent!\"").unwrap();
    assert!(config.warnings.to_string().contains("warning: `/echo`: nobody listens"));
    assert_eq!(fire(&engine(config), "Stop", &json!({"agent_id": "a"})).context, ["a!@h"]);
    let text = with_echo("/echo bad").unwrap_err();
    assert!(
        text.contains(":33: error: `/echo`: not that") && text.contains("help: say something else"),
        "{text}"
    );
    assert!(with_echo("/echo worse").unwrap_err().contains(":27: error: `/echo`: not this line"));
    assert!(with_echo("/ehco x").unwrap_err().contains("did you mean `/echo`?"));
    assert!(with_echo("/echo").unwrap_err().contains("WHAT is missing"));
}

#[test]
fn a_host_command_cannot_take_a_name_that_exists() {
    let text = Loader::default().slash_command(Echo).slash_command(Echo).load().unwrap_err().to_string();
    assert!(text.contains("the host's slash command `/echo` exists already"), "{text}");
    assert!(format!("{:?}", Loader::default().slash_command(Echo)).contains("[\"echo\"]"));
}
