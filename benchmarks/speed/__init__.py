"""Speed benchmarks, as ratios within one run."""
