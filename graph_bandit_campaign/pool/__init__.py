"""Pools of all that can be measured: molecules or other graphs of a table, or of a prepared folder of any size."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
