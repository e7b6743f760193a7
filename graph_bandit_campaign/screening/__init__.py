"""Screen a pool with the user's program, which computes the value of each suggestion, batch by batch."""
