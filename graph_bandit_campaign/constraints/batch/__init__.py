"""Constraints on a batch: its cost, and the number of graphs of each group."""
