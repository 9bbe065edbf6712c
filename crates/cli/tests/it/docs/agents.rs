//! `docs/agents`: a page for each agent, generated from its table.

use crosier_dialect::ALL;
use crosier_dialect::page::markdown;
use crosier_dialect::table::Proof;

use super::is_up_to_date;

const HEAD: &str = "\
# Crosier in your agent

One line in an agent's own configuration hands its events to Crosier: `crosier hook AGENT`. The same `crosier.yaml` holds in
all of them: tools and their fields have one vocabulary (`Bash`, `Read`, `Write`, `Edit`, `Glob`, `Grep`, `WebFetch`,
`WebSearch`, `Task`, `mcp__server__tool`; `command`, `file_path`, `content`, `old_string`, `new_string`, `pattern`, `url`),
and a matcher may use the agent's own name as well. A hook finds the agent's own words under `host`.

What an agent cannot do is not lost in silence: its page says what becomes of each effect, and `crosier events --agent
AGENT` prints it. When Crosier itself fails (a bad configuration, a mistake in the line, a late hook), what acts is denied,
the person is told at the next prompt, and nothing keeps the agent going.

A call with several parts (a patch with its files, a list of commands) is fired once per part, and the strictest answer
counts. `host.part` says which part it is.

| agent | | seen in the real program |
|---|---|---|
";

#[test]
fn the_page_of_every_agent_is_as_its_table_has_it() {
    let mut index = HEAD.to_owned();
    for agent in ALL {
        let seen = match agent.proof {
            Proof::Run(version) => version,
            Proof::Source => "no, from its sources",
            Proof::Documentation => "no, from documentation",
        };
        index.push_str(&format!(
            "| [{}]({}.md) | `crosier hook {}` | {seen} |\n",
            agent.title, agent.name, agent.name
        ));
        is_up_to_date(&format!("docs/agents/{}.md", agent.name), &markdown(agent));
    }
    is_up_to_date("docs/agents/README.md", &index);
}
