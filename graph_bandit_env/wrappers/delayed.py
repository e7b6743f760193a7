"""Delayed rewards."""

from __future__ import annotations

from typing import Generic, SupportsFloat, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.bandit.spaces import Info
from graph_bandit_env.checks import check_size

Earned = TypeVar("Earned")

DELAYS = 2  # key of the random stream of delays
NONE = -1  # pads the entries without a reward


def check_delay(delay: object) -> int | tuple[int, int]:
    """Return a delay as an integer or as different (least, most), or raise a ValueError."""
    return check_size("delay", delay, 0)


def delays_rng(seed: int | None) -> np.random.Generator:
    """Return the generator of delays, a separate stream of the seed, or a randomly seeded one for None."""
    return np.random.default_rng(None if seed is None else np.random.SeedSequence(seed, spawn_key=(DELAYS,)))


class RewardQueue(Generic[Earned]):
    """Queue of rewards that are earned and not yet paid, one per round.

    Args:
        delay: d, the number of rounds between action and reward, or (least, most) for a random delay of each reward.
        rng: the only source of randomness.

    Attributes:
        waiting: unpaid rewards, in the order of the rounds.
    """

    def __init__(self, delay: int | tuple[int, int], rng: np.random.Generator) -> None:
        self._delay, self._rng = check_delay(delay), rng
        self._due: list[int] = []  # the round in which each of `waiting` is paid
        self.waiting: list[Earned] = []
        self._round = 0

    def add(self, earned: Earned) -> None:
        """Add the reward of the round just played."""
        delay = self._delay
        late = int(self._rng.integers(*delay, endpoint=True)) if isinstance(delay, tuple) else delay
        self._due.append(self._round + late)
        self.waiting.append(earned)
        self._round += 1

    def take(self, everything: bool = False) -> list[Earned]:
        """Remove and return the rewards due now, in the order of the rounds, or all rewards."""
        last = max(self._due, default=0) if everything else self._round - 1
        rows = list(zip(self._due, self.waiting, strict=True))
        self._due = [due for due, _ in rows if due > last]
        self.waiting = [earned for due, earned in rows if due > last]
        return [earned for due, earned in rows if due <= last]


class DelayedRewards(gym.Wrapper, RecordConstructorArgs):
    """Pay each reward several rounds after its action.

    The reward of a step is the sum of the rewards due in this round. The last step of an episode pays all others, so
    the sum over an episode is unchanged. Observations and masks are not delayed. The wrapper accepts any environment
    with discrete actions, and works inside or outside `PaddedGraphSet`. `run_bandit` needs no wrapper for delays.

    `reset` and `step` also return, with m the maximum delay:

    | key of `info` | shape | meaning |
    |---|---|---|
    | `came` | `()` int64 | number of rewards paid now |
    | `came_rewards` | `(m + 1,)` float64 | these rewards, in the order of their rounds, padded with zeros |
    | `came_actions` | `(m + 1,)` int64 | their actions, padded with -1 |

    Args:
        env: an environment with discrete actions.
        delay: d, the number of rounds between action and reward, or (least, most) for a random delay of each reward,
            from a separate stream, which `reset(seed=...)` seeds.

    Raises:
        TypeError: if actions are not discrete.
        ValueError: if `delay` is neither an integer >= 0 nor two ordered ones.
    """

    def __init__(self, env: gym.Env, delay: int | tuple[int, int]) -> None:
        RecordConstructorArgs.__init__(self, delay=delay)
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.action_space, Discrete | MultiDiscrete):
            raise TypeError(f"Expected an environment with discrete actions. Got {env.action_space}.")
        self.delay = check_delay(delay)
        self._most = self.delay[1] if isinstance(self.delay, tuple) else self.delay
        self._shape: tuple[int, ...] = env.action_space.shape or ()
        self._rng: np.random.Generator | None = None
        self._queue: RewardQueue[tuple[ArrayLike, float]] = RewardQueue(self.delay, delays_rng(0))

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[object, Info]:
        """Start an episode without pending rewards."""
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None or self._rng is None:
            self._rng = delays_rng(seed)
        self._queue = RewardQueue(self.delay, self._rng)
        return observation, {**info, **self._tell([])}

    def step(self, action: ArrayLike) -> tuple[object, SupportsFloat, bool, bool, Info]:
        """Play an action, and return the sum of the rewards due now."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._queue.add((action, float(reward)))
        came = self._queue.take(everything=terminated or truncated)
        return observation, sum(paid for _, paid in came), terminated, truncated, {**info, **self._tell(came)}

    def _tell(self, came: list[tuple[ArrayLike, float]]) -> Info:
        rewards = np.zeros(self._most + 1)
        actions: NDArray[np.int64] = np.full((self._most + 1, *self._shape), NONE, np.int64)
        for k, (action, reward) in enumerate(came):
            actions[k], rewards[k] = action, reward
        return {"came": np.int64(len(came)), "came_rewards": rewards, "came_actions": actions}
