"""How many of the best products of a library are found, and what a round on 2 x 10^10 products costs."""
