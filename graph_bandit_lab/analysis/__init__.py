"""What results mean: summaries, scores, comparisons, tuning, and the paper's numbers."""
