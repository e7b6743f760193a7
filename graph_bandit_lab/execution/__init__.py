"""Playing what a folder does not hold yet, in this process, in others, or on a cluster."""
