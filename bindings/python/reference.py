"""Writes docs/python/reference.md from the package's types. `python bindings/python/reference.py [--check]`"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "python/crosier"
PAGE = HERE.parents[1] / "docs/python/reference.md"
# The names of each section, and the file that has them.
SECTIONS = [
    ("The engine", [("_engine.py", "Engine"), ("_native.pyi", "NativeEngine"), ("_engine.py", "Scope"), ("_engine.py", "Messages")]),
    ("Outcomes", [("_native.pyi", "Outcome"), *(("_gates.py", name) for name in "Deny Ask Allow Proceed Halt Resume".split())]),
    ("What hooks use", [("_hook.pyi", name) for name in "HookEvent HookResult HookContext deny ask allow inject".split()]),
    ("Exceptions", [("_errors.py", name) for name in
                    "Error ConfigError Untrusted RegisterError EventError DeadlineExceeded Denied".split()]),
    ("For tests", [("testing.py", "Tester")]),
    ("Adapters", [("adapters/claude_agent_sdk.py", "hooks"), ("adapters/openai_agents.py", "guard"),
                  ("adapters/langchain.py", "CrosierMiddleware"), ("adapters/pydantic_ai.py", "guarded")]),
]  # fmt: skip


def find(file: str, name: str) -> ast.AST:
    tree = ast.parse((PACKAGE / file).read_text())
    return next(node for node in tree.body if getattr(node, "name", None) == name)


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    arguments = ast.unparse(node.args).replace("=_DEFAULT", "=30.0")
    for own in ("self, ", "cls, ", "self", "cls"):
        if arguments.startswith(own):
            arguments = arguments[len(own) :]
            break
    arguments = arguments.removeprefix("/, ")
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    returns = returns.replace("Coroutine[Any, Any, Outcome]", "Awaitable[Outcome]")
    return f"{node.name}({arguments}){returns}"


def about(node: ast.AST) -> str:
    text = ast.get_docstring(node) or ""  # type: ignore[arg-type]
    return " ".join(text.split("\n\n")[0].split())


def members(node: ast.ClassDef) -> list[str]:
    lines = []
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and not item.target.id.startswith("_"):
            default = f" = {ast.unparse(item.value)}" if item.value else ""
            lines.append(f"- `{item.target.id}: {ast.unparse(item.annotation)}{default}`")
        if not isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        is_property = any(ast.unparse(decorator) == "property" for decorator in item.decorator_list)
        if item.name.startswith("_"):
            continue
        shown = f"{item.name}: {ast.unparse(item.returns)}" if is_property and item.returns else signature(item)
        lines.append(f"- `{shown}`" + (f": {about(item)}" if about(item) else ""))
    return lines


def section(file: str, name: str) -> list[str]:
    node = find(file, name)
    module = "crosier." + file.removesuffix(".py").replace("/", ".") if "/" in file or file == "testing.py" else "crosier"
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [f"### `{module}.{signature(node)}`", "", about(node), ""]
    assert isinstance(node, ast.ClassDef)
    if name == "NativeEngine":
        return ["Every engine also has:", "", *members(node), ""]
    made = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
    bases = [ast.unparse(base) for base in node.bases]
    bases = [base for base in bases if base not in ("_Hooks", "NativeEngine", "BaseEvent") and "[" not in base]
    inherited = [find(file, "BaseEvent")] if name == "HookEvent" else []
    made = made or next((item for base in inherited for item in base.body if getattr(item, "name", "") == "__init__"), None)
    shown = signature(made).removeprefix("__init__").removesuffix(" -> None") if made else ""
    if not made and node.name in "Deny Ask Allow Proceed Halt Resume".split():
        shown = "(" + ", ".join(ast.unparse(item) for item in node.body if isinstance(item, ast.AnnAssign)) + ")"
        return [f"### `{module}.{name}{shown}`", "", about(node), ""]
    after = f" ({', '.join(bases)})" if bases else ""
    return [f"### `{module}.{name}{shown}`{after}", "", about(node), "", *(line for each in [*inherited, node] for line in members(each)), ""]


def page() -> str:
    lines = ["# Reference", "", "Made from the package's types by `bindings/python/reference.py`.", ""]
    for title, names in SECTIONS:
        lines += [f"## {title}", ""]
        for file, name in names:
            lines += section(file, name)
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip() + "\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit("docs/python/reference.md is out of date: run bindings/python/reference.py")
