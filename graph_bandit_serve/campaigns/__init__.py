"""The campaigns of a folder: find their files, read them, and say what is in them."""
