"""A command hook that raises: python ends with 1."""

raise ValueError("a bug")
