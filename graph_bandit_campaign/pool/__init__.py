"""Read pools of candidates: molecules or other graphs of a table, or of a prepared folder of any size."""
