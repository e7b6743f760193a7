"""Products of building blocks: a Gaussian process whose predictions are sums over slots, and the best of them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
