"""The contract of an agent: protocol, inputs, settings, saved state, and the checks that hold an agent against it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
