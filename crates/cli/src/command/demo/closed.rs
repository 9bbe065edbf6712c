//! What happens to a project whose files changed after a person trusted them.

use std::fs;
use std::time::Instant;

use crosier::Json;
use crosier::protocol::json;
use crosier_agent::agent::{Fired, MAIN};
use crosier_policy::trust;
use crosier_policy::{Homes, Policy, Request};

use super::folder::DemoFolder;
use crate::setup;

const CONFIG: &str = "hooks:
  PreToolUse:
    - {name: policy, matcher: Bash, argv: [/bin/sh, policy.sh]}
";
const POLICY: &str = "read -r event
case \"$event\" in *publish*) echo 'only people publish' >&2; exit 2;; esac
";
/// The policy after somebody who wants to publish has edited it.
const EDITED: &str = "exit 0\n";
const COMMAND: &str = "./publish";

/// Fires the same call twice: with the policy that was trusted, and after somebody edited it. `Err` says why this
/// cannot be shown here.
pub(super) fn play(folder: &DemoFolder) -> Result<Vec<Fired>, String> {
    let request = trusted_project(folder)?;
    let before = fire(&request)?;
    let policy = request.project.join("policy.sh");
    fs::write(&policy, EDITED).map_err(|error| format!("{}: {error}", policy.display()))?;
    Ok(vec![before, fire(&request)?])
}

/// A project with a policy of its own that a person has trusted; all of it in the demo's folder.
fn trusted_project(folder: &DemoFolder) -> Result<Request, String> {
    let mut request = Request::new(folder.path("project"));
    let home = folder.path("home");
    request.homes = Homes::new(Some(home.clone()), Some(home.join("config")), Some(home.join("state")));
    request.managed = Some(home.join("managed"));
    let filled = fs::create_dir_all(&request.project)
        .and_then(|()| fs::write(request.project.join("crosier.yaml"), CONFIG))
        .and_then(|()| fs::write(request.project.join("policy.sh"), POLICY));
    filled.map_err(|error| format!("{}: {error}", request.project.display()))?;
    trust::review(&request)?.trust(false)?;
    Ok(request)
}

/// Judges the call by the policy in force now.
fn fire(request: &Request) -> Result<Fired, String> {
    let builder = match crosier_policy::in_force(request) {
        Policy::Loaded(loaded) => loaded.builder(),
        Policy::Closed(closed) => closed.builder(),
        _ => return Err("nothing is in force in a project that was just trusted".to_owned()),
    };
    let builder = builder.folder(&request.project).environment(crate::environment::all()).timing();
    let engine = setup::build(builder).map_err(|failed| failed.message)?;
    let event = json!({
        "tool_name": "Bash", "tool_input": {"command": COMMAND}, "cwd": request.project.display().to_string(),
    });
    let event =
        engine.event("PreToolUse", event.to_string().as_bytes()).map_err(|error| error.to_string())?;
    let input = event.wire().map_err(|failure| failure.detail.clone())?;
    let input = Json::parse(input).map_err(|error| error.to_string())?;
    let began = Instant::now();
    let outcome = engine.fire_blocking(&event);
    Ok(Fired { agent_id: MAIN.into(), event: "PreToolUse", input, outcome, took: began.elapsed() })
}
