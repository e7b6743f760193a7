"""Draw the noise of many bandits ahead, so that a round of all of them is one look-up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.bandit.bandit_model import BanditModel
from graph_bandit_env.bandit.instance import Instance
from graph_bandit_env.rewards.noise import NamedNoise

ROUNDS = 256  # rounds drawn at once, at most
NUMBERS = 1 << 12  # numbers kept for one bandit, at most


class NoiseAhead:
    """The numbers that `Instance.noise.draw` would give for each bandit, a block of rounds at a time.

    Noise that a user's function draws is not drawn ahead, for it may depend on what is played.

    Args:
        num_envs: n.
        bandit: the model that all n bandits share.
    """

    def __init__(self, num_envs: int, bandit: BanditModel) -> None:
        self._named = bandit.noise if isinstance(bandit.noise, NamedNoise) else None
        self._common = bandit.common_noise
        columns = bandit.num_graphs if bandit.common_noise else 1
        rounds = max(1, min(ROUNDS, bandit.horizon, NUMBERS // columns))
        self._numbers = np.zeros((num_envs, rounds if self._named else 0, columns))
        self._used = np.full(num_envs, rounds)  # rounds of the block that have been played

    def forget(self, i: int) -> None:
        """Drop the noise drawn for bandit `i`, which has a new instance."""
        self._used[i] = self._numbers.shape[1]

    def draw(
        self, instances: Sequence[Instance], played: NDArray[np.int64], playing: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Draw the noise of this round.

        Args:
            instances: n instances.
            played: `(n,)`. The graph that each bandit plays.
            playing: bool `(n,)`. True where a bandit plays this round.

        Returns:
            `(n,)` float64; zero where a bandit does not play.
        """
        noise = np.zeros(len(instances))
        rows = np.flatnonzero(playing)
        if self._named is None:
            for i in rows.tolist():
                noise[i] = instances[i].noise.draw(instances[i].mean_rewards, int(played[i]))
            return noise
        rounds = self._numbers.shape[1]
        for i in rows[self._used[rows] == rounds].tolist():
            self._numbers[i] = instances[i].noise.draw_ahead(rounds)
            self._used[i] = 0
        columns = played[rows] if self._common else 0
        noise[rows] = self._named.scale(played[rows]) * self._numbers[rows, self._used[rows], columns]
        self._used[rows] += 1
        return noise
