"""Let in who belongs, and nobody else: addresses, keys, and the guard of every request."""
