"""Learn from the results: the agent, failures, reasons, the choice of a batch, and whether it is enough."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
