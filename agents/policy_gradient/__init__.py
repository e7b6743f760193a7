"""The agent `sb3-ppo`: a policy gradient in the bandit."""
