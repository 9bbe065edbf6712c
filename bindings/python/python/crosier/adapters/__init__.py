"""Adapters for agent frameworks. Each module needs the package of its framework."""
