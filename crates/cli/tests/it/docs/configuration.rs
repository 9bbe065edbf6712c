//! `docs/configuration.md`: generated from the tables of keys that the loader itself uses.

use std::fmt::Write;

use crosier::Catalog;
use crosier::config::{Key, Loader, ValueKind};

const HEAD: &str = r#"# Configuration

<!-- Generated from the tables of keys by a test; `CROSIER_GENERATE=1 cargo test -p crosier-cli docs` writes it. -->

A configuration is YAML or JSON. `crosier check` reports every problem at once, with line, column and the nearest valid
name; nothing is loaded from a file with an error. `crosier schema config` prints the JSON Schema for editors. Here is an
example that uses most of it. It needs two files in the same folder: a guard, `guard.sh`:

```sh
#!/bin/sh
# No opinion, about anything.
exit 0
```

a policy, `policy.py`:

```python
def check(event):
    return None
```

and `crosier.yaml`:

```yaml
hooks:
  error_behavior: log              # for every hook that does not say on_error
  timeout: 5000                    # for every hook that names none; a bare number HERE is milliseconds
  PreToolUse:
    - name: guard                  # the flat form
      matcher: "Bash|shell"
      command: ./guard.sh
      timeout: 60                  # a bare number on a hook is SECONDS; "1500ms", "2s" and "1m" are explicit
      priority: 10
      on_error: abort
    - {name: policy, type: python, handler: policy.check}
    - {name: files, type: builtin, handler: protect-paths, options: {also_no_write: ["*.lock"]}}
    - matcher: "Write"             # Claude Code's nested form: one matcher, several hooks
      hooks:
        - {type: command, command: ./guard.sh}
  "pre:message":                   # a point alias is a name too
    - run: '/log debug "Sending: $prompt"'
agents:
  - id: reviewer
    hooks:
      PreToolUse:
        - {name: read-only, matcher: "Write|Edit", run: '/deny "a reviewer only reads"'}
      PostToolUse: {override: true, hooks: []}
permissions: {shellExec: ask}      # what /perms check looks up
```

- Relative paths are relative to the folder of the file. Hooks also run in that folder.
- Every key may be written in camel case (`onError`). Keys that begin with `x-` are ignored. A name is unique in its scope; a
  hook without a name is called by its position, `PreToolUse[1]`.
- The top-level keys are `hooks`, `agents` (each with `id`, which is compared with the event's `agent_id`, and `hooks`, or
  `backend: {hooks}`), `scripts` (a list of `.arma` files), `permissions` (`NAME: allow | ask | deny`; with several files the strictest counts), `extends`, and for the program
  `trust` (globs of additional files that are [trusted](trust.md) with it). Only the user's and the managed file may have
  `log` (`on`, `off`), `daemon` (`auto`, `off`), `self_guard` (`on`, `off`) and `otlp` (reserved: it has no effect yet, and
  `crosier check` says so). Other top-level keys are taken as another program's, if the file also has one of these.
- Files come in **layers**, and hooks run in their order: *managed* (`/etc/crosier/crosier.yaml` and `conf.d/*.yaml` beside
  it), *user* (`~/.config/crosier/crosier.yaml`), *project* (every `crosier.yaml` from the root of the repository down to
  the project folder), *local* (`crosier.local.yaml` beside it). `-c FILE` takes the place of all but the managed layer.
  A later layer only adds: it cannot disable, override, weaken or go before a hook of an earlier one, and the same name in
  two layers is two hooks. Managed and user files that other users can write are refused, and actions are denied.
  `crosier config` shows which files are in force.
- `mode: enforce | warn | off`, of a file, a `hooks` section or a hook (the nearest counts): `warn` runs a hook without an
  effect and reports what it would have done.
- These are errors, because otherwise a guard would be missing without notice: a file without any key of Crosier's, an event
  at the top level instead of under `hooks:`, and a misspelled key.
- `extends: NAME` or a list of names adds packs of ready-made hooks, before the hooks of the file; a path names a file as a
  pack. To change a pack's hook, add an entry with its name under the same event: without a handler key (`command`,
  `handler`, …) its keys replace the pack's; with one it replaces the whole hook. The guards of `crosier:recommended`,
  `crosier:secrets` and `crosier:strict` are also under `PermissionRequest`, as `NAME-on-request`: change both. Within a
  layer only the first file that extends a pack can change it; in a later layer a hook of that name is a hook of its own.
- In a MassGen file (one with `orchestrator`, or with agents that have a `backend`) a `handler` without a `type` is a Python
  function.
- A hook runs one of: `command` (a line for `sh -c`), `argv` (no shell), `run` (a script line), or `type` with `handler`: a
  file that need not be executable, a Python function, or a built-in. `reply` is a fixed answer, for [test cases](testing.md).
"#;

fn value(key: &Key, types: &[&str]) -> String {
    match key.value {
        ValueKind::Text => "text".to_owned(),
        ValueKind::Type => types.join(", "),
        ValueKind::Word(words) => words.join(", "),
        ValueKind::Bool => "true or false".to_owned(),
        ValueKind::Integer => "a whole number".to_owned(),
        ValueKind::Count => "a number, at least 1".to_owned(),
        ValueKind::Seconds => "a time, in seconds".to_owned(),
        ValueKind::Milliseconds => "a time, in milliseconds".to_owned(),
        ValueKind::Texts => "a list of strings".to_owned(),
        ValueKind::Argv => "a program and its arguments".to_owned(),
        ValueKind::Variables => "names and values".to_owned(),
        ValueKind::Hooks => "a list of hooks".to_owned(),
        _ => "anything".to_owned(),
    }
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    let known = Loader::new(Catalog::default()).keys();
    let tables: [(&str, &[Key]); 4] = [
        ("Keys of a hook", &known.hook),
        ("Keys directly under `hooks`, beside the events", &known.section),
        ("Keys of an event, in the form `{override, hooks}`", &known.event),
        ("Keys of a group, in the nested form", &known.group),
    ];
    for (title, keys) in tables {
        writeln!(page, "\n## {title}\n\n| key | value | |\n|---|---|---|").unwrap();
        for key in keys {
            let about = key.about.replace('|', "\\|");
            writeln!(page, "| `{}` | {} | {about} |", key.name, value(key, &known.types)).unwrap();
        }
    }
    page
}

#[test]
fn the_page_of_the_configuration_is_what_the_tables_say() {
    super::is_up_to_date("docs/configuration.md", &page());
}
