"""The work of `graph-bandit suggest`, and of `library`, which writes something to try it on."""
