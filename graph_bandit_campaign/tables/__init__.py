"""Read tables of molecules and results, match them, and check that they fit into memory."""
