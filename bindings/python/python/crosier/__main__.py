"""`python -m crosier`: runs the program."""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib.metadata import PackageNotFoundError, files


def find_program() -> str:
    """Where the program of this package was installed."""
    try:
        installed = files("crosier") or []
    except PackageNotFoundError:
        installed = []
    for file in installed:
        if file.name in ("crosier", "crosier.exe") and file.parent.name.lower() in ("bin", "scripts"):
            path = os.fspath(file.locate())
            if os.access(path, os.X_OK):
                return os.path.normpath(path)
    path = os.path.join(sysconfig.get_path("scripts"), "crosier")
    if os.access(path, os.X_OK):
        return path
    sys.exit("crosier: the program is not beside this package; install it again: pip install --force-reinstall crosier")


def main() -> None:
    program = find_program()
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
