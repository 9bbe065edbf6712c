"""Draws the diagrams of the guide: `python3 docs/images/draw.py` writes the SVG files beside it.

Boxes, arrows and a few words, in colours that can be read on light and dark pages.
"""

import pathlib
from html import escape

HERE = pathlib.Path(__file__).resolve().parent
INK, LINE, FILL, GOOD, BAD, NOTE = "#1f2933", "#52606d", "#f5f7fa", "#d8f3dc", "#ffd6d6", "#fff3bf"


class Drawing:
    def __init__(self, width, height, title):
        self.size, self.title, self.parts = (width, height), title, []

    def box(self, x, y, w, h, text, fill=FILL, small=()):
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="8" fill="{fill}" stroke="{LINE}" stroke-width="1.5"/>'
        )
        lines = [(line, 15, 600) for line in text.split("\n")] + [(line, 12, 400) for line in small]
        top = y + h / 2 - (len(lines) - 1) * 9 + 5
        for at, (line, size, weight) in enumerate(lines):
            self.text(x + w / 2, top + at * 18, line, size, weight, "middle")

    def text(self, x, y, text, size=12, weight=400, anchor="start"):
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
            f'fill="{INK}">{escape(text)}</text>'
        )

    def arrow(self, *points, dashed=False, label=None, at=None):
        path = " ".join(f"{x},{y}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="1.8"{dash} marker-end="url(#tip)"/>'
        )
        if label:
            self.text(*at, label)

    def save(self, name):
        width, height = self.size
        text = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'font-family="system-ui, sans-serif" role="img" aria-label="{escape(self.title)}">\n'
            f"<title>{escape(self.title)}</title>\n"
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{LINE}"/></marker></defs>\n'
            f'<rect width="{width}" height="{height}" fill="#ffffff" rx="10"/>\n' + "\n".join(self.parts) + "\n</svg>\n"
        )
        (HERE / name).write_text(text)


def event():
    d = Drawing(860, 310, "The path of one event")
    d.box(20, 40, 120, 70, "agent", small=["fires an event"])
    d.box(190, 40, 110, 70, "ingest", small=["freeze it"])
    d.box(350, 40, 110, 70, "plan", small=["which hooks,", "in which order"])
    d.box(510, 40, 110, 70, "run", small=["one stage,", "one deadline"])
    d.box(670, 40, 150, 70, "fold", small=["deny > ask > allow"])
    for x in (140, 300, 460, 620):
        d.arrow((x, 75), (x + 48, 75))
    d.arrow((745, 110), (745, 140), (565, 140), (565, 112), dashed=True, label="the next stage sees the rewritten event", at=(545, 158))
    d.box(335, 165, 140, 50, "configuration", small=["layers, trust"])
    d.arrow((405, 165), (405, 112))
    d.box(620, 200, 200, 70, "guards, again", small=["when a later hook changed", "what they let through"], fill=NOTE)
    d.arrow((800, 110), (800, 198))
    d.box(20, 200, 230, 70, "outcome", small=["decision, reason, input, context"], fill=GOOD)
    d.arrow((620, 245), (252, 245))
    d.arrow((80, 200), (80, 112))
    d.text(20, 297, "The outcome says what was decided, by which hook, why, and what failed. Nothing undoes a deny.")
    d.save("event.svg")


def layers():
    d = Drawing(860, 360, "Layers and trust")
    rows = [
        ("managed", "/etc/crosier", "root's files; no other layer can weaken them", GOOD),
        ("user", "~/.config/crosier", "yours, in every project", GOOD),
        ("project", "crosier.yaml, repository root to project folder", "only after `crosier trust`", NOTE),
        ("local", "crosier.local.yaml", "part of the same trust", NOTE),
    ]
    for at, (name, where, what, fill) in enumerate(rows):
        y = 20 + at * 62
        d.box(20, y, 120, 48, name, fill)
        d.text(160, y + 21, where, 13, 600)
        d.text(160, y + 39, what)
        if at:
            d.arrow((80, y - 14), (80, y - 2))
    d.text(20, 282, "Each layer runs after the one above it and can only make the policy stricter.", 13, 600)
    d.box(520, 20, 140, 48, "never trusted")
    d.text(675, 40, "its hooks do not run;")
    d.text(675, 57, "you are told")
    d.box(520, 110, 140, 48, "trusted", fill=GOOD)
    d.text(675, 130, "what runs is what")
    d.text(675, 147, "was recorded")
    d.box(520, 200, 140, 48, "closed", fill=BAD)
    d.text(675, 212, "a file changed or is gone:")
    d.text(675, 229, "actions are denied")
    d.arrow((590, 68), (590, 108), label="crosier trust", at=(598, 92))
    d.arrow((570, 158), (570, 198), label="a change", at=(500, 182))
    d.arrow((610, 198), (610, 160), label="crosier trust", at=(618, 182))
    d.text(20, 322, "A record holds the SHA-256 of the configuration and of every file that it runs. It is in the state folder,")
    d.text(20, 340, "outside of the project: if an agent edits or removes its guard, actions are denied.")
    d.save("layers.svg")


def process():
    d = Drawing(860, 270, "The life of a command hook")
    steps = [("start", "a group of its own"), ("event on stdin", "then end of file"), ("wait", "both pipes are read"), ("leader exits", "0, 2, or another")]
    for at, (name, small) in enumerate(steps):
        d.box(20 + at * 172, 30, 136, 60, name, small=[small])
        if at:
            d.arrow((20 + at * 172 - 36, 60), (18 + at * 172, 60))
    d.box(708, 30, 132, 60, "reply", small=["stdout is read"], fill=GOOD)
    d.arrow((672, 60), (706, 60))
    d.box(350, 130, 150, 60, "deadline", small=["SIGTERM to the group"], fill=NOTE)
    d.arrow((432, 90), (432, 128))
    d.box(536, 130, 150, 60, "grace is over", small=["SIGKILL to the group"], fill=BAD)
    d.arrow((500, 160), (534, 160))
    d.text(700, 152, "failure: timeout;")
    d.text(700, 169, "a denial that was")
    d.text(700, 186, "written before counts")
    d.text(20, 225, "One deadline covers start, input, run and output. A hook is done when its leader exits, whatever it left on its")
    d.text(20, 243, "pipes. Exit 0: stdout decides. Exit 2: deny, stderr is the reason. Another code: the reply if it is valid, else a failure.")
    d.save("process.svg")


if __name__ == "__main__":
    event()
    layers()
    process()
