#!/usr/bin/env python3
"""Formats the file that a tool has just written, in place, and tells the model when it changed something.

JSON gets two spaces of indentation; any other text loses trailing blanks and ends with one newline."""
import json
import os
import sys
from pathlib import Path


def formatted(path: Path, text: str) -> str:
    if path.suffix == ".json":
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(lines).rstrip("\n") + "\n"


def main() -> dict:
    event = json.load(sys.stdin)
    folder = Path(event["cwd"]).resolve()
    path = (folder / event["tool_input"].get("file_path", "")).resolve()
    if not path.is_relative_to(folder) or not path.is_file():
        return {}
    before = path.read_text(encoding="utf-8")
    try:
        after = formatted(path, before)
    except ValueError as error:
        return {"inject": {"content": f"{path.name} is no valid JSON: {error}", "strategy": "tool_result"}}
    if after == before:
        return {}
    whole = path.with_name(f".{path.name}.new")  # a reader never sees half a file
    whole.write_text(after, encoding="utf-8")
    os.replace(whole, path)
    return {"systemMessage": f"{path.name} was formatted; read it again before you edit it."}


print(json.dumps(main()))
