"""Pages, figures and tables, from stored results only."""
