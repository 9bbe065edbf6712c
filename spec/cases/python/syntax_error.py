"""Cannot be imported, on purpose."""


def check(event)
    return None
