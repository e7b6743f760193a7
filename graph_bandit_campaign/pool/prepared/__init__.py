"""Store pools of any size in a folder of parts, with descriptors that depend only on single structures."""
