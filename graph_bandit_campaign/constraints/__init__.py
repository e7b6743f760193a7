"""Constraints on suggestions: limits, prices, caps, and goals for measured quantities."""
