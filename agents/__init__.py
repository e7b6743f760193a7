"""The players of graph-bandit-env: each agent sees observations, masks and rewards, never means or regret.

Make one by name with `registry.make_agent`. The rooms are doors for those who write agents of their own: `contract`,
`beliefs`, the families `neural`, `kernel`, `molecule`, `classic` and `policy_gradient`, and `zoo`, where models and
rules meet. `sb3` has policies for users of Stable-Baselines3.
"""

from importlib.metadata import version

__version__ = version("graph-bandit-env")

__all__ = [
    "__version__",
    "beliefs",
    "classic",
    "contract",
    "kernel",
    "molecule",
    "neural",
    "policy_gradient",
    "sb3",
    "zoo",
]
