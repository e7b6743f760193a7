"""Make a prepared pool: read the table, compute parts in parallel, and merge equal molecules across parts."""
