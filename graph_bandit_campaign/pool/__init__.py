"""Pools of all that can be measured: molecules or other graphs of a table, or of a prepared folder of any size."""
