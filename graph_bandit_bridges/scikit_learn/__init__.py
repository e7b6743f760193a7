"""scikit-learn: a Gaussian process of graphs as a regressor, and its kernel and its numbers for models of others."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
