"""Bayesian linear regression on a few features of a graph: the baseline that a graph network has to beat."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
