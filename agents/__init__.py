"""The agents of graph-bandit-env. An agent sees observations, masks and rewards, never mean rewards or regret.

Make an agent by name with `registry.make_agent`. To write your own agent, import from the subpackages: `contract`,
`beliefs`, the families `neural`, `process`, `molecule` and `classic`, and `zoo`, which joins models and rules.
`descriptors` holds descriptors of molecules, `padded` networks for learners of any library, and `sb3` policies for
users of Stable-Baselines3.
"""

from importlib.metadata import version

__version__ = version("graph-bandit-env")

LARGEST_REWARD = 1e100
"""The largest absolute value of a reward: sums of squares of many such rewards stay far below the largest float64."""

__all__ = ["LARGEST_REWARD", "__version__"]
