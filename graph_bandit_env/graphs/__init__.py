"""Graph sets: validated arrays, random graphs, and readers of other libraries' graphs."""
