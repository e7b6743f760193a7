"""Studies on pools: a file each, with its settings, what it plays, and its tables."""
