"""Examine sweeps: claims about their results, killed drivers, many repetitions, estimates of their time."""
