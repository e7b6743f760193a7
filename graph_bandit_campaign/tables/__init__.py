"""Tables of results, matched with the molecules of a pool."""
