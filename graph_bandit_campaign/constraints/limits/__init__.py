"""Limits on molecules: which of a pool may be suggested."""
