"""Results of measurements: their tables, matched with the pool."""
