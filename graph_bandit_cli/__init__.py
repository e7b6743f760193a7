"""The command `graph-bandit`."""
