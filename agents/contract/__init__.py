"""The contract of an agent: protocol, base class, inputs, settings, saved state, and checks that an agent keeps it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
