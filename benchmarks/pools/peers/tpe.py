"""Optuna's tree-structured Parzen estimator, with its defaults and the constant liar for points tried at once."""

from __future__ import annotations

import numpy as np
import optuna
from optuna.distributions import BaseDistribution

from benchmarks.pools.screening import Floats


class Parzen:
    """Propose points by a study of Optuna."""

    def begin(self, dimensions: int, seed: int) -> None:
        """Make a new study."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        unit: BaseDistribution = optuna.distributions.FloatDistribution(0, 1)
        self._space = {f"c{k}": unit for k in range(dimensions)}

    def tell(self, point: Floats, value: float) -> None:
        """Add a finished trial."""
        params = dict(zip(self._space, point.tolist(), strict=True))
        self._study.add_trial(optuna.create_trial(params=params, distributions=self._space, value=value))

    def propose(self, count: int) -> Floats:
        """Ask for trials, which are then given up: the molecules that are measured lie elsewhere."""
        trials = [self._study.ask(self._space) for _ in range(count)]
        for trial in trials:
            self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return np.array([list(trial.params.values()) for trial in trials])
