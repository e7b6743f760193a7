"""Commands for real measurements."""
