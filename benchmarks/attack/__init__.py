"""Attack the product with hostile input and kills, and count what it survives."""
