#!/usr/bin/env python3
"""Writes what the fuzzer starts from: fuzz/corpus/TARGET/seed-… and words that it may use, fuzz/corpus/words.dict.

Hardly anything is written by hand: it is taken from the schemas, the behaviour corpus, the captures of agents and the
examples, so that a new case or key is also a new place to start from.
"""

import hashlib
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz" / "corpus"


def read(pattern):
    return [path.read_bytes() for path in sorted(ROOT.glob(pattern)) if path.is_file()]


def found(pattern, *files):
    """What the first group of a pattern matches in the files."""
    texts = [text.decode() for file in files for text in read(file)]
    return [match.encode() for text in texts for match in re.findall(pattern, text, re.M)]


def for_each_kind(seeds):
    """The first byte is which event it is for: a few of them."""
    return [bytes([kind]) + seed for kind in range(8) for seed in seeds]


def client_lines():
    """The lines that clients send in the transcripts of the daemon's protocol."""
    for text in read("spec/rpc/*.jsonl"):
        for line in filter(None, text.decode().splitlines()):
            step = json.loads(line)
            yield (step["text"] if "text" in step else json.dumps(step.get("line"))).encode()


def words(schema):
    """The names and fixed values in a schema."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties":
                yield from value
            if key in ("const", "enum"):
                yield from (one for one in (value if key == "enum" else [value]) if isinstance(one, str))
            yield from words(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from words(value)


CAPTURES = read("crates/dialect/tests/captures/*/*.json")
SEEDS = {
    "config": read("examples/**/*.yaml") + found(r"^  config: (\{.*\})$", "spec/cases/**/*.yaml"),
    "dialect": CAPTURES,
    "event": for_each_kind(CAPTURES[::8]),
    "http": [
        b"POST /v1/hook/claude?x HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAuthorization: Bearer 00\r\nContent-Length: x\r\n\r\n{}",
        b"POST /v1/hook/codex/PreToolUse HTTP/9.9\nnonsense\nauthorization:Bearer 00 \nX: \x00\n\n",
    ],
    "install": read("examples/**/*.json") + [
        b'{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}}',
        b'{\n  // mine\n  "hooks": {"PreToolUse": []},\n}\n',
        b'model = "k"\n\n[[hooks]]\nevent = "Stop"\ncommand = "x"\n\n[other]\na = 1\n',
        b'hooks = [{event = "Stop", command = "x"}]\n',
    ],
    "reply": for_each_kind([
        b'{"decision": "deny", "reason": "no", "additionalContext": "more"}',
        b'{"allowed": false, "inject": {"content": "x"}, "suppressOutput": true}',
        b'{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "ls"}}}',
        b"/deny no\n/context more\n",
    ]),
    "rpc": list(client_lines()),
    "script": found(r"run: '([^']*)'", "spec/cases/**/*.yaml", "examples/**/*.yaml"),
    "secrets": [
        text.decode("unicode_escape").encode()
        for text in found(r': "([^"\n]+)"', "spec/cases/builtins-redact-secrets.yaml")
    ],
    "shell": found(r"command: \"([^\"]*)\"", "spec/cases/**/*.yaml"),
}


def main():
    for target, seeds in SEEDS.items():
        if not seeds:
            raise SystemExit(f"fuzz/seeds.py: no seeds for {target}: what they are taken from has moved")
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for seed in seeds:
            (folder / f"seed-{hashlib.sha1(seed).hexdigest()}").write_bytes(seed)
    every = {word for schema in read("schema/*.json") for word in words(json.loads(schema))}
    plain = sorted(word for word in every if re.fullmatch(r"[ -!#-\[\]-~]+", word))
    (CORPUS / "words.dict").write_text("".join(f'"{word}"\n' for word in plain))


main()
