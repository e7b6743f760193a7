"""What is shown of a campaign: a table, a page, and lines in a terminal."""
