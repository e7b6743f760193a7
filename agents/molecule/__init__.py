"""Agents for pools of molecules: a Gaussian process on fingerprints, properties and a trained network."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
