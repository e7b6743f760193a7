"""Compare campaigns on pools with salts: forms of one compound joined, or apart."""
