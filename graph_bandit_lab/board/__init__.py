"""The public board of a sweep of tasks: entries that others send, what they may hold, and whether they are true."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
