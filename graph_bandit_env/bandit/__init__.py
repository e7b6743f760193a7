"""What a bandit is made of: its arguments, graph sources, spaces, seeds and instances."""
