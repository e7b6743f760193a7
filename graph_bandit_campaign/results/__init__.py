"""Read tables of results, and match them with the pool."""
