"""Searches of libraries of products: the share of the best that is found, and rounds on 2 x 10^10 products."""
