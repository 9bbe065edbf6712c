"""What the guide says is run: each page's Python, from the first block to the last, in a folder of its own."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs/python"
PAGES = sorted(DOCS.glob("*.md")) if DOCS.exists() else []


def run(code, folder):
    (folder / "page.py").write_text(code)
    return subprocess.run([sys.executable, "page.py"], cwd=folder, capture_output=True, text=True, timeout=100)


def framework_sections():
    """Each framework's own section: its packages may not be installed."""
    text = (DOCS / "frameworks.md").read_text() if DOCS.exists() else ""
    for section in text.split("\n## ")[1:]:
        yield pytest.param("\n".join(re.findall(r"```python\n(.*?)```", section, re.S)), id=section.splitlines()[0])


@pytest.mark.parametrize("code", framework_sections())
def test_an_adapter_is_used_as_its_section_says(code, tmp_path):
    for package in re.findall(r"^from (agents|claude_agent_sdk|langchain|pydantic_ai)\b", code, re.M):
        pytest.importorskip(package)
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [page for page in [*PAGES, HERE.parent / "README.md"]
                                  if "```python" in page.read_text() and page.name != "frameworks.md"],
                         ids=lambda page: page.name)  # fmt: skip
def test_a_page_is_true(page, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    code, tests = [block for block in blocks if "def test_" not in block], [block for block in blocks if "def test_" in block]
    done = run("\n".join(code), tmp_path)
    assert done.returncode == 0, done.stderr
    if tests:
        (tmp_path / "test_page.py").write_text("\n".join(tests))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_page.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stdout


def script(name):
    spec = importlib.util.spec_from_file_location(name, HERE.parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_up_to_date():
    assert (DOCS / "reference.md").read_text() == script("reference").page(), "run bindings/python/reference.py"


def test_the_types_of_events_are_up_to_date():
    events = script("events")
    assert events.MODULE.read_text() == events.module(), "run bindings/python/events.py"
