"""Compare policies of Stable-Baselines3, and bandits, on graph sets: python -m benchmarks.policies."""
