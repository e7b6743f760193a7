"""Molecules with what agents compare them by, computed once."""
