"""Networks in plain torch on the observations of `graph_bandit_env.wrappers`, for any library of learners.

They score each graph with shared weights, so that the order of the graphs does not matter and K may change.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
