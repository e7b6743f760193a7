"""Offer the candidates of each round, for each kind of pool."""
