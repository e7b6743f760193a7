"""Count how many molecules that fail are suggested, with and without learning from failures."""
