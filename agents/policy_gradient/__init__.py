"""The agent `sb3-ppo`: policy gradient in the bandit."""
