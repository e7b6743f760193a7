"""Spend money on pools whose values are known, and count the good molecules that it bought."""
