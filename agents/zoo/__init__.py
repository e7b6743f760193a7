"""The agents by name: `gnn_ts(width=256)` makes the same agent as `registry.make_agent("gnn-ts", width=256)`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
