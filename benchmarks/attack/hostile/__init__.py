"""Make hostile tables, and read them in a process with limits."""
