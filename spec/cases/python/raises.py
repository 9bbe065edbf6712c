"""Raises while it is imported, on purpose."""

SETTINGS = {}


def check(event):
    return None


LIMIT = SETTINGS["limit"]
