"""The agents of graph-bandit-env. An agent sees observations, masks and rewards, never mean rewards or regret.

Make an agent by name with `registry.make_agent`. To write your own agent, import from the subpackages: `contract`,
`beliefs`, the families `neural`, `kernel`, `process`, `molecule`, `classic` and `policy_gradient`, and `zoo`, which
joins models and rules. `padded` holds networks for learners of any library, and `sb3` policies for users of
Stable-Baselines3.
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
    "padded",
    "policy_gradient",
    "process",
    "sb3",
    "zoo",
]
