"""MassGen's own hook tests, run against Crosier's names by import substitution."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import crosier.massgen

SOURCE = os.environ.get("CROSIER_TEST_MASSGEN")


@pytest.mark.skipif(not SOURCE, reason="MassGen was not fetched (run-tests does it)")
def test_massgens_own_hook_tests_pass(tmp_path):
    env = {**os.environ, "MASSGEN_SOURCE": SOURCE, "PYTHONPATH": str(Path(__file__).parent / "massgen")}
    command = [sys.executable, "-m", "pytest", "-p", "substitute", "-q", "-c", "/dev/null", "--rootdir", str(tmp_path), "-o",
               "asyncio_mode=auto", "--import-mode=importlib", "--noconftest", "-p", "no:cacheprovider",
               os.path.join(SOURCE, "massgen/tests/test_hook_framework.py")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    passed = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0 and passed and int(passed[1]) >= 100, done.stdout[-5000:]


def test_names_that_are_not_offered_say_where_they_are():
    with pytest.raises(AttributeError, match="massgen.mcp_tools.hooks"):
        crosier.massgen.HumanInputHook
    with pytest.raises(AttributeError, match="no hook or helper of MassGen 0.1.97"):
        crosier.massgen.Nothing


async def test_a_denial_ends_the_walk_and_hooks_may_return_crosiers_results():
    manager = crosier.massgen.GeneralHookManager()
    ran = []
    for name, reply in (("a", None), ("b", crosier.deny("no")), ("c", None)):
        hook = crosier.massgen.PythonCallableHook(name, lambda event, name=name, reply=reply: (ran.append(name), reply)[1])
        manager.register_global_hook(crosier.massgen.HookType.PRE_TOOL_USE, hook)
    result = await manager.execute_hooks(crosier.massgen.HookType.PRE_TOOL_USE, "Bash", "{}", {"agent_id": "x"})
    assert (result.allowed, result.reason, ran) == (False, "no", ["a", "b"])
