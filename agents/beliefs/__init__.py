"""The parts that all families of agents share: belief, acquisition rules, batches, rewards observed, and insight."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
