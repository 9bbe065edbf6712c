"""Writes fnmatch_table.json: patterns, values, and what Python's fnmatch.fnmatchcase says of them.

Run once, by hand: python3 make_table.py. The table is kept, so that tests need no Python. Patterns that Crosier refuses
(an unclosed `[`, a reversed range) or reads otherwise (`|` is a list, `re:` an expression, space around it is not part
of it) are left out.
"""
import fnmatch
import json
import pathlib
import random

ALPHABET = "ab-]![^*?\\{},.$()+B\n ä日😀_/"
VALUES = "ab-]![^*?\\{},.$()+B\n ä日😀_/"


def is_refused(pattern: str) -> bool:
    at = 0
    while at < len(pattern):
        at += 1
        if pattern[at - 1] != "[":
            continue
        first = at + (pattern[at : at + 1] == "!")
        end = pattern.find("]", first + 1)
        if end < 0:
            return True
        while first < end:
            if first + 2 < end and pattern[first + 1] == "-":
                if pattern[first] > pattern[first + 2]:
                    return True
                first += 3
            else:
                first += 1
        at = end + 1
    return False


def is_special(pattern: str) -> bool:
    spaces = " \t\n\r\x0b\x0c"
    return not pattern or "|" in pattern or pattern.startswith("re:") or pattern[0] in spaces or pattern[-1] in spaces


def a_class(rng: random.Random) -> str:
    inside = ""
    for _ in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.4:
            low, high = sorted(rng.choices("abcxyzABC019äö日本", k=2))
            inside += f"{low}-{high}"
        else:
            inside += rng.choice("abc-^!\\*?.{}ä日]" if kind > 0.9 else "abc-^!\\*?.{}ä日")
    return "[" + rng.choice(["", "", "!", "]", "!]", "-", "^"]) + inside + "]"


def a_pattern(rng: random.Random) -> str:
    parts = []
    for _ in range(rng.randint(1, 6)):
        parts.append(
            rng.choice(
                [
                    lambda: "*",
                    lambda: "?",
                    lambda: rng.choice(ALPHABET),
                    lambda: rng.choice(["mcp__", "Bash", "a", "b", "ab", "\n", "\\*", "{a,b}", "ä", "日"]),
                    lambda: a_class(rng),
                ]
            )()
        )
    return "".join(parts)


def a_value(rng: random.Random, pattern: str) -> str:
    """Mostly something that nearly matches: the pattern with its special parts filled in, and a slip now and then."""
    out, at = "", 0
    while at < len(pattern):
        c = pattern[at]
        if c == "*":
            out += "".join(rng.choices(VALUES, k=rng.randint(0, 3)))
        elif c == "?":
            out += rng.choice(VALUES)
        elif c == "[" and (end := pattern.find("]", at + 2 + (pattern[at + 1 : at + 2] == "!"))) > 0:
            out += rng.choice(VALUES + pattern[at + 1 : end] * 4)
            at = end
        else:
            out += c
        at += 1
    if rng.random() < 0.2:
        place = rng.randint(0, len(out))
        out = out[:place] + rng.choice(VALUES) + out[place + rng.randint(0, 1) :]
    return out


def main() -> None:
    rng = random.Random(20260102)
    fixed = ["*", "**", "?", "[]]", "[!]]", "[]-a]", "[!]-a]", "[--a]", "[a-]", "[-a]", "[a-b-c]", "[a-b--d]", "[!!]"]
    fixed += ["[^a]", "[\\]", "[\\a]", "[!\\a]", "[[]", "[a[b]", "[*]", "[?]", "a\\*", "{a,b}", "a.b", "^a$", "(a)", "a+"]
    fixed += ["[]a]]", "[!a]]", "[a]]", "*[!a]", "*\n*", "?\n", "a\nb", "[\n]", "[!\n]", "mcp__*", "日*", "[日-本]", "[ä-ö]"]
    fixed += ["[a-a]", "[a-zA-Z0-9_]*", "*.*", "a*b*c", "*a*a*a", "??", "[]]*", "[!]a-]", "[a-c-e-g]", "[+--]", "[--/]"]
    rows, seen = [], set()

    def add(pattern: str, value: str) -> None:
        if is_special(pattern) or is_refused(pattern) or (pattern, value) in seen:
            return
        seen.add((pattern, value))
        rows.append([pattern, value, fnmatch.fnmatchcase(value, pattern)])

    for pattern in fixed:
        for value in ["", "a", "b", "-", "]", "[", "!", "^", "\\", "\n", "ä", "日", "😀", "ab", "a\nb", pattern]:
            add(pattern, value)
        for _ in range(6):
            add(pattern, a_value(rng, pattern))
    while len(rows) < 3000:
        pattern = a_pattern(rng)
        for _ in range(3):
            add(pattern, a_value(rng, pattern))
    lines = ",\n".join(json.dumps(row, ensure_ascii=True) for row in rows)
    pathlib.Path(__file__).with_name("fnmatch_table.json").write_text(f"[\n{lines}\n]\n")
    matches = sum(row[2] for row in rows)
    print(f"{len(rows)} rows, {matches} of them match")


if __name__ == "__main__":
    main()
