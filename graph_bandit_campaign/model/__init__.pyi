from .choice import choose_batch as choose_batch
