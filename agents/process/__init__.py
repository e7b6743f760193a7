"""The exact Gaussian process whose kernel is a sum of parts: its parts, their weights, its posterior, and its agent."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
