"""Mean rewards of graphs, and the noise around them."""
