"""Attack the product with hostile input, damaged files and kills, and count what it survives."""
