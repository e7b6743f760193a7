"""What was played: the results file, its table, files for other programs, and files that are replaced whole."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
