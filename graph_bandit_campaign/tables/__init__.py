"""Tables of molecules and results: read, matched, and held against the memory there is."""
