"""Learn from molecules that failed what they have in common, and which others are likely to fail."""
