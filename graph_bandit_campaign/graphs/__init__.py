"""Suggest graphs of a file that are not molecules."""
