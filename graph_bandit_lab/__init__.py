"""The laboratory: run agents on environments, keep every result, and show the regret.

Each room has its own door: `episodes`, `design`, `storage`, `execution`, `analysis`, `reports`.
"""

from importlib.metadata import version

import lazy_loader

import registry  # noqa: F401 - refuses the `agents` of another package

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = version("graph-bandit-env")
