"""The work of `graph-bandit suggest`."""
