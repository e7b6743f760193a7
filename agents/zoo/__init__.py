"""The agents by name: `registry.make_agent("gnn-ts", width=256)` calls `agents.zoo.neural.gnn_ts(width=256)`.

Importing this package does not import torch. Each file defines the agents of one family.
"""

FAMILIES = {
    "classic": ("exp3", "gaussian-ts", "random", "ucb1"),
    "molecule": ("molecule-ei", "molecule-greedy", "molecule-ts", "molecule-ucb"),
    "neural": (
        *("gnn-ei", "gnn-greedy", "gnn-pe", "gnn-ts", "gnn-ucb", "epsilon-greedy"),
        *("nn-ei", "nn-greedy", "nn-pe", "nn-ts", "nn-ucb", "neural-ts", "neural-ucb"),
    ),
    "process": (
        *("gntk-ei", "gntk-greedy", "gntk-pe", "gntk-ts", "gntk-ucb", "wl-ei", "wl-ts", "wl-ucb"),
        *("gp-ei", "gp-greedy", "gp-ts", "gp-ucb", "lin-ts", "lin-ucb", "squarecb"),
    ),
}
"""Names of agents by the module that defines them, as functions with `_` for `-`."""

__all__ = ["FAMILIES"]
