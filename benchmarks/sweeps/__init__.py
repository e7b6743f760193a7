"""Examine sweeps: claims about their results, and drivers of very many repetitions."""
