"""A pytest plugin: case files are tests, and the fixture `crosier` fires events.

Files named `*.crosier.yaml` are collected, and those that the option `crosier_cases` of pytest's configuration names. They
are run by the program, as `crosier test` runs them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from .__main__ import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._engine import Engine, Outcome


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("crosier_cases", "case files of Crosier: paths or patterns", type="args", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.endswith(".crosier.yaml"):
        names = [os.path.join(str(parent.config.rootpath), name) for name in parent.config.getini("crosier_cases")]
        if not any(fnmatch(str(file_path), name) for name in names):
            return None
    return CaseFile.from_parent(parent, path=file_path)


class CaseFile(pytest.File):
    """A file of cases."""

    results: dict[tuple[str, int], dict[str, Any]] | None = None

    def collect(self) -> Iterator[pytest.Item]:
        from ._errors import ConfigError
        from ._native import case_names

        try:
            names = case_names(str(self.path), self.path.read_text(encoding="utf-8"))
        except ConfigError as error:
            raise self.CollectError(str(error)) from None
        seen: dict[str, int] = {}
        for name, line in names:
            seen[name] = seen.get(name, 0) + 1
            shown = name if seen[name] == 1 else f"{name} ({seen[name]})"
            yield Case.from_parent(self, name=shown, case=name, line=line)

    def result(self, case: str, line: int) -> dict[str, Any]:
        """The result of a case. The first call runs all cases of the file."""
        if self.results is None:
            program = find_program()
            done = subprocess.run(
                [program, "test", "--json", str(self.path)], capture_output=True, text=True, cwd=self.path.parent
            )
            try:
                told = json.loads(done.stdout)["cases"]
            except (ValueError, KeyError, TypeError):
                raise CaseFailed(done.stderr.strip() or f"crosier test ended with {done.returncode}") from None
            self.results = {(result["name"], result["line"]): result for result in told}
        return self.results[case, line]


class CaseFailed(Exception):
    """A case failed; the message says where."""


class Case(pytest.Item):
    """One case."""

    def __init__(self, *, case: str, line: int, **more: Any) -> None:
        super().__init__(**more)
        self.case, self.line = case, line

    def runtest(self) -> None:
        file = self.parent
        assert isinstance(file, CaseFile)
        result = file.result(self.case, self.line)
        if not result["passed"]:
            raise CaseFailed(self._told(result))

    def _told(self, result: dict[str, Any]) -> str:
        """Formatted like pytest's assertion failures; its summary shows the first line."""
        lines = []
        for difference in result["differences"]:
            at, expected, got = difference.get("at"), _shown(difference.get("expected")), _shown(difference.get("got"))
            if not lines:
                lines.append(f"{at}: expected {expected}, got {got}")
            lines += [f">  {at}", f"E    expected: {expected}", f"E    got:      {got}"]
        if result.get("error"):
            lines += [f"E  {line}" for line in str(result["error"]).splitlines()]
        return "\n".join([*lines, "", f"{self.path}:{self.line}: CaseFailed"])

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, f"case: {self.case}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Tester:
    """Fires events at hooks, for tests. It starts with an engine without hooks."""

    def __init__(self) -> None:
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        from ._engine import Engine

        if self._engine is None:
            self._engine = Engine()
        return self._engine

    def load(self, *paths: str | os.PathLike[str], **options: Any) -> Engine:
        """Loads the hooks of these files, and drops the previous ones."""
        from ._engine import Engine

        self.close()
        self._engine = Engine.load(*paths, **options)
        return self._engine

    def hook(self, event: str, **options: Any) -> Any:
        return self.engine.hook(event, **options)

    def fire(self, event: str, payload: Mapping[str, Any] | None = None, /, **fields: Any) -> Outcome:
        """Fires an event. For events about tools, `tool_input` may be left out."""
        fields = {**(payload or {}), **fields}
        if "tool_name" in fields:
            fields.setdefault("tool_input", {})
        return self.engine.fire_sync(event, **fields)

    def assert_denied(
        self,
        event: str,
        payload: Mapping[str, Any] | None = None,
        /,
        *,
        by: str | None = None,
        reason: str | None = None,
        **fields: Any,
    ) -> Outcome:
        """Asserts that the event is denied: by this hook, with a reason that contains this text."""
        __tracebackhide__ = True
        outcome = self.fire(event, payload, **fields)
        if not outcome.denied:
            pytest.fail(f"{event} was not denied: the decision is {outcome.decision!r}{self._ran(outcome)}")
        if by is not None and outcome.by != by:
            pytest.fail(f"{event} was denied by {outcome.by!r}, not by {by!r}{self._ran(outcome)}")
        if reason is not None and reason not in (outcome.reason or ""):
            pytest.fail(f"{event} was denied for {outcome.reason!r}, which does not have {reason!r}")
        return outcome

    def assert_allowed(self, event: str, payload: Mapping[str, Any] | None = None, /, **fields: Any) -> Outcome:
        """Asserts that no hook denies the event or asks a person."""
        __tracebackhide__ = True
        outcome = self.fire(event, payload, **fields)
        if outcome.denied or outcome.halt is not None or outcome.decision == "ask":
            word = outcome.decision or "halt"
            pytest.fail(f"{event} got {word!r} by {outcome.by!r}: {outcome.reason}{self._ran(outcome)}")
        return outcome

    @staticmethod
    def _ran(outcome: Outcome) -> str:
        lines = [f"  {report.hook}: {report.status}" + (f" ({report.failure.detail})" if report.failure else "")
                 for report in outcome.reports]  # fmt: skip
        return "\nhooks:\n" + ("\n".join(lines) or "  none ran")

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None


@pytest.fixture
def crosier() -> Iterator[Tester]:
    """Fires events at hooks: `crosier.load("crosier.yaml")`, `crosier.assert_denied("PreToolUse", tool_name="Bash")`."""
    tester = Tester()
    yield tester
    tester.close()
