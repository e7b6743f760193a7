"""Let in who belongs, and nobody else: addresses, keys, the guard of every request, and limits of connections."""
