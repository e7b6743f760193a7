"""Run `graph-bandit suggest`, and write example data for it."""
