"""Commands of research on regret."""
