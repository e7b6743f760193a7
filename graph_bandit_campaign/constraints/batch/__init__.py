"""Constraints on a batch: what it may cost, and how many graphs of one group it may hold."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
