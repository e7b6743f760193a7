"""How fast, as ratios within one run."""
