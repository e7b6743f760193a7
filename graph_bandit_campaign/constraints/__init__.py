"""Constraints on suggestions: limits, prices, caps, and what is wanted of each measured quantity."""
