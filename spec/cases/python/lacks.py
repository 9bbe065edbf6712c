"""Needs what is not there, on purpose."""

import a_package_that_nobody_has


def check(event):
    return a_package_that_nobody_has.check(event)
