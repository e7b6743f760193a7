"""What policies of Stable-Baselines3 learn on graph sets: python -m benchmarks.policies."""
