"""Agents that ignore the structure and the features of the graphs."""
