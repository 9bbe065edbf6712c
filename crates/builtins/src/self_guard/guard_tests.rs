//! Lines about Crosier itself, and what is free.

use std::path::Path;

use crosier::config::Loader;
use crosier::{Catalog, Decision, Engine};
use serde_json::json;

use super::{CONFIG, SelfGuard};

#[test]
fn crosier_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let loader = Loader::new(Catalog::default()).builtin(SelfGuard::with_own(vec![state]));
    let config = loader.text("self-guard.yaml", CONFIG, folder.path()).load().unwrap();
    let engine = Engine::builder().config(config).build().unwrap();
    let decide = |line: &str, cwd: &Path| {
        let event = json!({"tool_name": "Bash", "tool_input": {"command": line}, "cwd": cwd}).to_string();
        engine.fire_blocking(engine.event("PreToolUse", event.as_bytes()).unwrap()).decision
    };
    for line in [
        "crosier trust",
        "crosier trust --yes",
        "/tmp/bin/cros?er disable guard",
        "(env -i setsid /usr/b*/c*r trust --revoke &)",
        "crosier disable guard",
        "crosier uninstall",
        "crosier install claude",
        "crosier init --yes",
        "/usr/local/bin/crosier trust",
        "../bin/crosier -c x.yaml disable guard",
        "env -u CLAUDECODE crosier trust --yes",
        "unset CLAUDECODE; crosier trust --yes",
        "sudo crosier uninstall",
        "bash -c 'crosier trust'",
        "c=crosier; $c trust",
        "yes | crosier trust",
        "python3 -m crosier trust",
        "uvx crosier uninstall",
        "crosier $X",
        "CROSIER_TRUST=sha256:abc crosier fire PreToolUse",
        "export CROSIER_TRUST=sha256:abc",
        "env CROSIER_TRUST=x make",
        "echo x > crosier.yaml",
        "rm -rf ~/.local/state/crosier",
        "rm -rf state",
        "sed -i s/crosier/true/ ~/.claude/settings.json",
        "rm .codex/hooks.json",
        "cp x .gemini/settings.json",
        "npx crosier trust",
        "npx -y crosier@latest uninstall",
        "uv run crosier trust",
        "pipx run crosier init",
        "cargo run -p crosier-cli -- trust --yes",
        "a=cros; ${a}ier trust",
        "s=trust; crosier $s",
        "XDG_STATE_HOME=/tmp/x crosier hook claude",
        "export XDG_CONFIG_HOME=/tmp/x; crosier fire PreToolUse",
        "env -u CROSIER_DEPTH crosier fire PreToolUse",
        "pkill crosier",
        "pkill -f 'crosier serve'",
        "kill $(pgrep -f 'crosier serve')",
        "pgrep crosier | xargs kill -9",
        "systemctl --user stop crosier",
        "rm -rf .claude",
        "mv .claude .claude.old",
        "mv ~/.codex /tmp/x",
        "ln -sfn /tmp/x .gemini",
        "ln -sf /tmp/x .claude/settings.json",
        "cp x/settings.json .claude/",
        "mv x/hooks.json .cursor",
        "chmod 000 .cursor/hooks.json",
        "find .claude -name 'settings*.json' -delete",
        "rm -rf .github/hooks",
        "touch .opencode/plugins/a.ts",
        "tee ~/.claude/settings.local.json < x",
        "echo x > .agents/plugins/a.json",
    ] {
        assert_eq!(decide(line, folder.path()), Some(Decision::Deny), "{line}");
    }
    for line in [
        "crosier check",
        "crosier test spec",
        "crosier trust --diff",
        "crosier install --dry-run",
        "crosier --help",
        "crosier try 'crosier trust'",
        "cat crosier.yaml",
        "git add crosier.yaml",
        "git commit -m 'crosier trust'",
        "echo crosier trust",
        "grep -rn 'crosier install' docs",
        "cat .claude/settings.json",
        "cat .env",
        "echo 'unclosed",
        "cargo test -p crosier",
        "rm -rf target",
        "rm -rf .github/workflows/old.yml",
        "mkdir -p .claude/agents",
        "cp agent.md .claude/agents/",
        "npx create-crosier",
        "uv add crosier",
        "pip install crosier",
        "XDG_STATE_HOME=/tmp/x crosier status",
        "XDG_STATE_HOME=/tmp/x cargo test",
        "pkill -f vite",
        "kill $(lsof -ti:3000)",
        "crosier log --follow",
        "crosier explain PreToolUse",
        "git commit -m 'crosier: CROSIER_TRUST is documented'",
    ] {
        assert_eq!(decide(line, folder.path()), None, "{line}");
    }
}
