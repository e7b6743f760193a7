"""Compare policies of Stable-Baselines3 on graph sets: python -m benchmarks.policies."""
