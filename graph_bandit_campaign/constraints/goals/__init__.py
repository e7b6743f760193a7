"""Several goals at once: what is wanted of each, the front, and the choice of a batch by joint draws."""
