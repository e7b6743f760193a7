"""scikit-learn: a Gaussian process of graphs as a regressor, and its kernel and its numbers for other models."""
