"""Named like a module of the standard library. It is a hook by that name, and never stands in for the module."""

import json as standard

from crosier import deny


def check(event):
    return deny(f"a hook named json, beside {standard.__name__}.{standard.dumps.__name__}")
