"""scikit-learn: a Gaussian process regressor for graphs, and its kernel and features for other models."""
