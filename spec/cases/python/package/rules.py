"""Its rules, in a module of their own."""

from crosier import deny


def check(event):
    return deny(f"by {__name__.rpartition('.')[2]}")
