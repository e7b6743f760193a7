"""Spend money on two assays of the same molecules, of which one is cheaper, and count the good molecules found."""
