"""The agent `sb3-ppo`: policy gradient in the bandit."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
