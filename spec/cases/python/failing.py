"""Functions that fail, each in its own way."""

import os
import sys
import time


def divides(event):
    return inner(event)


def inner(event):
    return 1 // 0


async def raises_later(event):
    raise RuntimeError("later")


def exits(event):
    sys.exit(2)


def interrupts(event):
    raise KeyboardInterrupt


def recurses(event):
    return recurses(event)


def dies(event):
    os._exit(7)


def sleeps(event):
    time.sleep(60)


def lists(event):
    return [{"decision": "deny"}]


def texts(event):
    return "deny"


def not_json(event):
    return {"updated_input": {"files": {"a", "b"}}}


def not_a_number(event):
    return {"updated_input": {"ratio": float("nan")}}


def huge(event):
    return {"systemMessage": "x" * (1 << 20)}


def huge_deny(event):
    return {"decision": "deny", "reason": "no", "systemMessage": "x" * (1 << 20)}


def mistyped(event):
    return {"descision": "deny"}


def three(event, context, more):
    pass


class Nothing:
    pass


number = 7
