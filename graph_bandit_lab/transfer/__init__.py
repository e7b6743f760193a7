"""Carry finished repetitions from one folder to others, in files of a fraction of their size."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
