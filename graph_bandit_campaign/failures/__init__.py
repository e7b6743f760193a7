"""What molecules that failed have in common, and which others are likely to fail."""
