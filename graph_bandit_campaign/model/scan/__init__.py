"""Find the most promising molecules of a pool that is read part by part, and predict all of them."""
