"""Rounds on prepared pools: time, memory, and what they find."""
