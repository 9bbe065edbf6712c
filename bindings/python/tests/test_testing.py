"""The pytest plugin, in a pytest of its own."""

import pytest

pytest_plugins = ["pytester"]

CASES = """
- name: bash is denied
  config: {hooks: {PreToolUse: [{name: g, reply: {decision: deny, reason: no}, matcher: Bash}]}}
  event: PreToolUse
  input: {tool_name: Bash, tool_input: {}}
  expect: {decision: deny, by: g}
- name: reading is not
  config: {hooks: {PreToolUse: [{name: g, reply: {decision: deny, reason: no}, matcher: Bash}]}}
  event: PreToolUse
  input: {tool_name: Read, tool_input: {}}
  expect: {decision: EXPECTED}
"""


@pytest.fixture
def program():
    from crosier.__main__ import find_program

    try:
        return find_program()
    except SystemExit:
        pytest.skip("the package is not installed")


def test_case_files_are_collected_and_failures_read_well(pytester, program):
    (pytester.path / "policy.crosier.yaml").write_text(CASES.replace("EXPECTED", "ask"))
    (pytester.path / "other.yaml").write_text(CASES.replace("EXPECTED", "null"))
    (pytester.path / "ignored.yaml").write_text("- nothing of ours\n")
    pytester.makeini("[pytest]\ncrosier_cases = other.yaml\n")
    result = pytester.runpytest("-v", "-p", "no:asyncio")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*policy.crosier.yaml::bash is denied PASSED*", "*::reading is not FAILED*"])
    result.stdout.fnmatch_lines(["*expected: ask*", "*got: *null*", "*policy.crosier.yaml:7: CaseFailed*"])
    result.stdout.fnmatch_lines(["FAILED *policy.crosier.yaml::reading is not - decision: expected ask, got null"])


def test_a_file_that_is_no_case_file_says_so(pytester, program):
    (pytester.path / "bad.crosier.yaml").write_text("- {name: x, evnt: PreToolUse}\n")
    result = pytester.runpytest("-p", "no:asyncio")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*evnt*"])
    (pytester.path / "worse.crosier.yaml").write_text("- [\n")
    result = pytester.runpytest("-p", "no:asyncio")
    result.stdout.fnmatch_lines(["*worse.crosier.yaml*", "*error*"])


def test_the_fixture(pytester):
    (pytester.path / "crosier.yaml").write_text(
        "hooks: {PreToolUse: [{name: g, reply: {decision: deny, reason: never here}, matcher: Bash}]}\n"
    )
    pytester.makepyfile("""
        def test_denied(crosier):
            crosier.load("crosier.yaml")
            outcome = crosier.assert_denied("PreToolUse", tool_name="Bash", by="g", reason="never")
            assert outcome.by == "g"
            assert crosier.fire("PreToolUse", tool_name="Read").decision is None
            crosier.assert_allowed("PreToolUse", tool_name="Read")
            crosier.assert_denied("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}})

        def test_not_denied(crosier):
            crosier.assert_denied("PreToolUse", tool_name="Bash")
    """)
    result = pytester.runpytest("-p", "no:asyncio")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*PreToolUse was not denied: the decision is None*", "*none ran*"])
