"""Products of building blocks: a library of reactions and blocks with products generated on request."""

from graph_bandit_env.pools.products.library import Part, Product, ProductLibrary, example_library, example_values
from graph_bandit_env.pools.products.reaction import NoProductError, Reaction

__all__ = [
    "NoProductError",
    "Part",
    "Product",
    "ProductLibrary",
    "Reaction",
    "example_library",
    "example_values",
]
