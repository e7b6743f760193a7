"""Log episodes with the probabilities of their plays, and judge other policies and agents by such a log."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
