"""Show the suggestions of a campaign as a table, a page, and lines in a terminal."""
