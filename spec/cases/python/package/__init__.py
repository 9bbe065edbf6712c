"""A package of hooks."""

from .rules import check
