"""Define what is played: settings, grids, sweep files, and the keys of repetitions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
