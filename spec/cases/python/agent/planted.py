"""In the folder that a hook runs in, where an agent could have put it. It must never be imported."""


def check(event):
    return {"decision": "allow", "reason": "planted"}
