//! A project's own hooks, which apply only after a person trusted them, and what keeps an agent from changing that.

use super::Scenario;
use super::expect::{all, ended, file_has, file_lacks, made, never_printed, not_made, printed, result_has};
use crate::agent::Agent;
use crate::model::Turn;

const GUARD: &str = "\
hooks:
  PreToolUse:
    - {name: before, command: python3 policy.py, on_error: abort}
";

/// A project with its own hooks; the agent's hook names no configuration.
pub(super) fn project(name: &'static str) -> Scenario {
    Scenario::new(name)
        .unnamed()
        .file("crosier.yaml", GUARD)
        .file("policy.py", include_str!("../../policy/policy.py"))
}

/// All scenarios. They also check what the person sees, so the agent must show a hook's messages without a terminal.
pub(super) fn trust(agent: &dyn Agent) -> Vec<Scenario> {
    vec![never(agent), given(agent), changed(agent), own_files(agent), own_commands(agent)]
}

/// The project is not trusted.
fn never(agent: &dyn Agent) -> Scenario {
    project("trust: never given")
        .turns([
            Turn::call(agent.shell("minded", "touch minded # case:deny")),
            Turn::call(agent.shell("trust", "/CROSIER trust --yes && touch weakened")),
            Turn::call(agent.shell("again", "touch again # case:deny")),
            Turn::text("Finished."),
        ])
        .check("the project's hooks do not run", all([made("minded"), ended()]))
        .check("the person is told that they do not run", printed("because they are not trusted"))
        .check("and what to type", printed("crosier trust "))
        .check("the agent cannot trust it", result_has("trust", "is for the person to run"))
        .check("nothing came into force by that", all([not_made("weakened"), made("again")]))
}

/// A person ran `crosier trust --yes`.
fn given(agent: &dyn Agent) -> Scenario {
    project("trust: given")
        .trusted()
        .turns([
            Turn::call(agent.shell("free", "touch free")),
            Turn::call(agent.shell("minded", "touch minded # case:deny")),
            Turn::text("Finished."),
        ])
        .check("the project's hooks hold", all([not_made("minded"), made("free")]))
        .check("their reason reaches the model", result_has("minded", "REASON-DENY"))
        .check("the person is not told about trust", never_printed("because they are not trusted"))
}

/// A file that a hook runs is changed after it was trusted, by a program that no guard can look into.
fn changed(agent: &dyn Agent) -> Scenario {
    project("trust: changed")
        .trusted()
        .file("build.sh", "#!/bin/sh\necho '# another policy' >> policy.py\n")
        .turns([
            Turn::call(agent.shell("free", "touch free")),
            Turn::call(agent.shell("build", "./build.sh && touch built")),
            Turn::call(agent.shell("after", "touch after")),
            Turn::call(agent.read("look", "policy.py")),
            Turn::text("Finished."),
            Turn::call(agent.shell("later", "touch later")),
            Turn::text("Finished again."),
        ])
        .then("[[main]] Go on.")
        .check(
            "the file is changed, and everything before that ran",
            all([made("free"), made("built"), file_has("policy.py", "# another policy")]),
        )
        .check("the next call does not run", all([not_made("after"), made("built")]))
        .check("the model is told which file changed", result_has("after", "policy.py changed since"))
        .check("with the line to copy", result_has("after", "crosier trust --diff /"))
        .check("tools that only read are denied too", result_has("look", "crosier trust --diff /"))
        .check(
            "it stays so at the next prompt",
            all([not_made("later"), result_has("later", "crosier trust")]),
        )
        .check("the person is told", printed("policy.py changed since"))
        .check("the agent ends", ended())
}

/// The agent's own tools, used on the files that decide what is in force.
fn own_files(agent: &dyn Agent) -> Scenario {
    const PLANTED: &str = "PLANTED\n";
    project("trust: own files")
        .trusted()
        .file(".claude/settings.json", "{\"env\": {\"KEPT\": \"1\"}}\n")
        .turns([
            Turn::call(agent.read("see-settings", ".claude/settings.json")),
            Turn::call(agent.read("see-policy", "policy.py")),
            Turn::call(agent.read("see-yaml", "crosier.yaml")),
            Turn::call(agent.edit("settings", ".claude/settings.json", "KEPT", "PLANTED")),
            Turn::call(agent.write("yaml", "crosier.yaml", PLANTED)),
            Turn::call(agent.edit("policy", "policy.py", "import sys", "import sys # PLANTED")),
            Turn::call(agent.write("state", "../state/crosier/trust/planted", PLANTED)),
            Turn::call(agent.shell("sh-settings", "echo '{}' > .claude/settings.json")),
            Turn::call(agent.shell("sh-user", "echo '{}' > ../home/.claude/settings.json")),
            Turn::call(agent.shell("sh-yaml", "sed -i s/abort/PLANTED/ ./crosier.yaml")),
            Turn::call(agent.shell("sh-policy", "cd .. && echo PLANTED >> project/policy.py")),
            Turn::call(agent.shell("sh-state", "rm -rf /STATE/crosier")),
            Turn::call(agent.write("other", "other.txt", "fresh\n")),
            Turn::call(agent.shell("minded", "touch minded # case:deny")),
            Turn::text("Finished."),
        ])
        .check(
            "reading them is free",
            all([result_has("see-yaml", "policy.py"), result_has("see-settings", "KEPT")]),
        )
        .check("other files are written", file_has("other.txt", "fresh"))
        .check(
            "the agent's settings stay, by Edit and by the shell",
            all([file_has(".claude/settings.json", "KEPT"), refused("settings"), refused("sh-settings")]),
        )
        .check(
            "so do those of the person",
            all([file_has("../home/.claude/settings.json", "PreToolUse"), refused("sh-user")]),
        )
        .check(
            "so does crosier.yaml",
            all([file_lacks("crosier.yaml", "PLANTED"), refused("yaml"), refused("sh-yaml")]),
        )
        .check(
            "so does what the hooks run",
            all([file_lacks("policy.py", "PLANTED"), refused("policy"), refused("sh-policy")]),
        )
        .check(
            "so does Crosier's state",
            all([
                not_made("../state/crosier/trust/planted"),
                made("../state/crosier/trust"),
                refused("state"),
                refused("sh-state"),
            ]),
        )
        .check(
            "the hooks hold after all of it",
            all([not_made("minded"), result_has("minded", "REASON-DENY")]),
        )
}

/// The commands that decide what is in force.
fn own_commands(agent: &dyn Agent) -> Scenario {
    project("trust: own commands")
        .trusted()
        .turns([
            Turn::call(agent.shell("status", "/CROSIER trust --list && touch listed")),
            Turn::call(agent.shell("trust", "/CROSIER trust --yes; touch ran-trust")),
            Turn::call(agent.shell("revoke", "/CROSIER trust --revoke; touch ran-revoke")),
            Turn::call(agent.shell("hidden", "sh -c 'env A=1 /CROSIER disable before; touch ran-disable'")),
            Turn::call(agent.shell("uninstall", "/CROSIER uninstall && touch ran-uninstall")),
            Turn::call(agent.shell("minded", "touch minded # case:deny")),
            Turn::text("Finished."),
        ])
        .check("what only shows something runs", made("listed"))
        .check("crosier trust does not run", all([not_made("ran-trust"), for_a_person("trust")]))
        .check("nor does trust --revoke", all([not_made("ran-revoke"), for_a_person("revoke")]))
        .check("nor disable inside another shell", all([not_made("ran-disable"), for_a_person("hidden")]))
        .check("nor uninstall", all([not_made("ran-uninstall"), for_a_person("uninstall")]))
        .check(
            "the hooks hold after all of it",
            all([not_made("minded"), result_has("minded", "REASON-DENY")]),
        )
}

fn for_a_person(call: &'static str) -> super::Check {
    result_has(call, "is for the person to run")
}

/// Denied by Crosier, which leaves it to the person, and not refused by the agent itself.
fn refused(call: &'static str) -> super::Check {
    result_has(call, "the person")
}
