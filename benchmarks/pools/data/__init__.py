"""The pools of the comparison, and how they are measured."""
