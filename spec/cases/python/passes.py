"""A guard that is asked twice."""

import os


def denies_in_the_second(event):
    if os.environ.get("CROSIER_PASS") == "2":
        return {"decision": "deny", "reason": "second pass"}
    return None
