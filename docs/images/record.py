"""Records what the real program prints, as an animated picture of a terminal:

    python3 docs/images/record.py target/release/crosier

writes docs/images/blocked.svg. Every line in it was printed by that program, in a folder of its own.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
from html import escape

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS, ROW, SIZE = 92, 20, 14
BACK, TEXT, DIM, RED, GREEN = "#16181d", "#d6d9de", "#8b929c", "#ff7b72", "#7ee787"

# What is typed, and what is run for it.
STEPS = [
    ("# a policy for every agent on this machine", None),
    ("cat crosier.yaml", "cat crosier.yaml"),
    ("# an agent is about to run this", None),
    ("crosier try 'cd app && git push --force'", "crosier try 'cd app && git push --force'"),
    ("# hidden in a variable", None),
    ("crosier try 'X=\"rm -rf\"; $X ~'", "crosier try 'X=\"rm -rf\"; $X ~'"),
    ("crosier try 'cargo test'", "crosier try 'cargo test'"),
]


def record(program):
    """The lines of the terminal, each with its colour and the time at which it appears."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "home").mkdir()
        (place / "project").mkdir()
        (place / "bin").mkdir()
        (place / "bin" / "crosier").symlink_to(pathlib.Path(program).resolve())
        (place / "project" / "crosier.yaml").write_text("extends: crosier:recommended\n")
        environment = {
            "PATH": f"{place / 'bin'}:/usr/bin:/bin",
            "HOME": str(place / "home"),
            "COLUMNS": str(COLUMNS),
            "LANG": "C.UTF-8",
        }

        def run(line):
            done = subprocess.run(
                ["sh", "-c", line], cwd=place / "project", env=environment, text=True, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
            )
            return done.stdout.rstrip("\n").splitlines()

        run("crosier trust --yes")
        lines, at = [], 0.3
        for typed, command in STEPS:
            if command is None:
                lines.append((typed, DIM, at))
                at += 0.6
                continue
            lines.append((f"$ {typed}", TEXT, at))
            at += 0.9
            for line in run(command):
                colour = RED if re.match(r"deny|denied", line) else GREEN if re.match(r"no hook|allow|nothing", line) else TEXT
                for piece in textwrap.wrap(line, COLUMNS, subsequent_indent="  ") or [""]:
                    lines.append((piece, colour, at))
            at += 1.4
        return lines


def draw(lines):
    width, height = COLUMNS * 8.6 + 32, len(lines) * ROW + 62
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" role="img" '
        'aria-label="An agent tries a forced push; Crosier stops it and says why">',
        "<style>text{font:%dpx ui-monospace,Menlo,Consolas,monospace;white-space:pre}"
        "@media (prefers-reduced-motion: no-preference){.l{opacity:0;animation:show .15s forwards}}"
        "@keyframes show{to{opacity:1}}</style>" % SIZE,
        f'<rect width="{width:.0f}" height="{height}" rx="10" fill="{BACK}"/>',
    ]
    for at, colour in enumerate(("#ff5f57", "#febc2e", "#28c840")):
        parts.append(f'<circle cx="{22 + at * 20}" cy="20" r="6" fill="{colour}"/>')
    for row, (line, colour, at) in enumerate(lines):
        y = 58 + row * ROW
        parts.append(f'<text class="l" xml:space="preserve" x="16" y="{y}" fill="{colour}" style="animation-delay:{at:.1f}s">{escape(line)}</text>')
    return "\n".join(parts) + "\n</svg>\n"


def main():
    (HERE / "blocked.svg").write_text(draw(record(sys.argv[1])))


if __name__ == "__main__":
    main()
