"""Traits of molecules, which agents compute from structures alone, and the scales on which they compare them.

No torch, except where `Molecules` is asked for: processes that prepare pools stay small.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
