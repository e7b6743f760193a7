"""Constraints on a batch: what it may cost, and how many graphs of one group it may hold."""
