"""Agents that take no notice of what a graph looks like."""
