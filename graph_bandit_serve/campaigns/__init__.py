"""The campaigns of a folder: find, read and summarize their files."""
