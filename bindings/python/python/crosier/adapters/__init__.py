"""Crosier inside the frameworks that agents are written with. Each module needs its own package."""
