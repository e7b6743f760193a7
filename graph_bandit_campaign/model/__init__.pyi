from .choice import choose_batch as choose_batch

__all__ = ["choose_batch"]
