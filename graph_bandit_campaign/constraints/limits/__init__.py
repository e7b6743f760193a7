"""Limits on the molecules of a pool that may be suggested."""
