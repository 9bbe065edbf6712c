"""`Engine.load`: files, layers and trust."""

import subprocess

import pytest

import crosier
from crosier import Engine
from crosier.__main__ import find_program

LS = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
HOOK = "hooks:\n  PreToolUse:\n    - {name: NAME, reply: {decision: DECISION, reason: NAME}}\n"


def policy(name, decision):
    return HOOK.replace("NAME", name).replace("DECISION", decision)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home without files, a project with one that nobody has trusted, and the environment."""
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home / ".config/crosier", project / ".git", tmp_path / "empty"):
        folder.mkdir(parents=True, mode=0o700)
    (project / "crosier.yaml").write_text(policy("project", "deny"))
    monkeypatch.chdir(project)
    return home, project, {"HOME": str(home), "PATH": "/usr/bin:/bin"}


def decided(engine):
    with engine:
        outcome = engine.fire_sync("PreToolUse", LS)
        return outcome.decision, outcome.reason


def test_an_untrusted_project_raises_with_the_remedy(place):
    home, project, env = place
    for options in ({}, {"folder": project}, {"folder": "."}):
        with pytest.raises(crosier.Untrusted, match="crosier trust") as caught:
            Engine.load(env=env, **options)
        assert isinstance(caught.value, crosier.ConfigError) and str(project) in str(caught.value)
        assert "crosier trust" in caught.value.problems[0]["message"]
    # The hooks of the person do not make up for those that are missing.
    (home / ".config/crosier/crosier.yaml").write_text(policy("user", "ask"))
    with pytest.raises(crosier.Untrusted):
        Engine.load(env=env)


def test_layers_without_a_project(place, tmp_path):
    home, _, env = place
    with pytest.raises(crosier.ConfigError, match="no configuration"):
        Engine.load(folder=tmp_path / "empty", env=env)
    (home / ".config/crosier/crosier.yaml").write_text(policy("user", "ask"))
    assert decided(Engine.load(folder=tmp_path / "empty", env=env)) == ("ask", "user")


def test_a_trusted_project_and_one_that_changed(place):
    home, project, env = place
    (home / ".config/crosier/crosier.yaml").write_text(policy("user", "ask"))
    try:
        program = find_program()
    except SystemExit:
        pytest.skip("the package is not installed")
    digest = subprocess.run([program, "trust", "--digest"], cwd=project, env=env, capture_output=True, text=True)
    env = {**env, "CROSIER_TRUST": digest.stdout.strip()}
    assert decided(Engine.load(env=env)) == ("deny", "project")
    (project / "crosier.yaml").write_text(policy("project", "allow"))
    with pytest.raises(crosier.Untrusted):
        Engine.load(env=env)


def test_named_files_need_no_trust_and_hold_together(place, monkeypatch):
    _, project, env = place
    (project / "other.yaml").write_text(policy("other", "ask"))
    assert decided(Engine.load("crosier.yaml", env=env)) == ("deny", "project")
    assert decided(Engine.load(project / "other.yaml", env=env)) == ("ask", "other")
    both = Engine.load("other.yaml", project / "crosier.yaml", env=env, timing=True)
    reports = both.fire_sync("PreToolUse", LS).reports
    assert {report.hook for report in reports} == {"other", "project"}
    assert all(report.duration_ms is not None for report in reports if report.status == "ok")
    both.close()
    with pytest.raises(crosier.ConfigError, match="missing.yaml"):
        Engine.load("other.yaml", "missing.yaml", env=env)


def test_an_engine_of_a_program_knows_no_layers(place):
    home, _, env = place
    (home / ".config/crosier/crosier.yaml").write_text(policy("user", "ask"))
    assert decided(Engine(env=env)) == (None, None)
    for config in ({}, {"hooks": {}}, {"hooks": {"PreToolUse": []}}):
        assert decided(Engine(config, env=env)) == (None, None)
    with pytest.raises(crosier.ConfigError):
        Engine({"theme": "dark"})
    for wrong in ({"folder": 3}, {"env": {"A": "B"}, "tming": True}):
        with pytest.raises(TypeError):
            Engine(**wrong)
