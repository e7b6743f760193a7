"""Pools of any size: a folder of parts with all that can be computed from the structure of each molecule alone."""
