"""Measure pools for two goals, and how much of the front of the pool is found."""
