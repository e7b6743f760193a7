"""Optuna's tree-structured Parzen estimator as a player on a table of networks."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import TrialState, create_trial

from benchmarks.pools.screening import Floats, Indices

TRIES = 50  # of a suggestion that is in the table and new; then any network is taken


class TreeParzen:
    """Choose networks by Optuna's TPE with its defaults, each word of a network's text being a category.

    A suggestion that is not in the table, or was measured, is told as failed, which TPE leaves out, and another one is
    asked for.

    Args:
        ids: texts of the networks.
        seed: seed of the sampler.
    """

    def __init__(self, ids: Sequence[str], seed: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        words = zip(*(re.findall(r"\w+", text) for text in ids), strict=True)
        columns = [column for column in words if len(set(column)) > 1]
        self._rows = list(zip(*columns, strict=True))
        self._index_of = {row: k for k, row in enumerate(self._rows)}
        self._space: dict[str, BaseDistribution] = {
            f"word {place}": CategoricalDistribution(sorted(set(column))) for place, column in enumerate(columns)
        }
        self._study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        self._generator = np.random.default_rng(seed)

    def __call__(self, new: Indices, values: Floats, left: Indices) -> int:
        """Learn from new results, and choose one of the networks that are left."""
        for k, value in zip(new.tolist(), values.tolist(), strict=True):
            params = dict(zip(self._space, self._rows[k], strict=True))
            self._study.add_trial(create_trial(params=params, distributions=self._space, value=value))
        allowed = set(left.tolist())
        for _ in range(TRIES):
            trial = self._study.ask(self._space)
            suggested = self._index_of.get(tuple(trial.params[name] for name in self._space), -1)
            self._study.tell(trial, state=TrialState.FAIL)
            if suggested in allowed:
                return suggested
        return int(self._generator.choice(left))
