"""Offer the graphs of each kind of pool from which a round is chosen."""
