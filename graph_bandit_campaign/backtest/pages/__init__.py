"""Show a backtest: as a page, figures, and lines in a terminal."""
