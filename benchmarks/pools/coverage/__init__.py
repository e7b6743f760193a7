"""Count the values that lie in the intervals which models predict, on pools whose values are known."""
