"""Open doors of other libraries: what is here, by their interfaces. Importing this package needs none of them."""

from importlib.metadata import version

import lazy_loader

import registry  # noqa: F401 - refuses the `agents` of another package

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = version("graph-bandit-env")
