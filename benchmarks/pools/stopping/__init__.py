"""Replay whole campaigns, and count what a rule that says when to stop would have missed and saved."""
