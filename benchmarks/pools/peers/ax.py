"""Ax with its default strategy."""

from __future__ import annotations

import numpy as np
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig

from benchmarks.pools.screening import Floats


class Ax:
    """Propose points by a client of Ax."""

    def begin(self, dimensions: int, seed: int) -> None:
        """Make a new experiment."""
        self._client = Client(random_seed=seed)
        self._names = [f"c{k}" for k in range(dimensions)]
        self._client.configure_experiment(
            parameters=[RangeParameterConfig(name=name, parameter_type="float", bounds=(0, 1)) for name in self._names]
        )
        self._client.configure_optimization(objective="value")

    def tell(self, point: Floats, value: float) -> None:
        """Attach a finished trial."""
        trial = self._client.attach_trial(parameters=dict(zip(self._names, point.tolist(), strict=True)))
        self._client.complete_trial(trial_index=trial, raw_data={"value": value})

    def propose(self, count: int) -> Floats:
        """Ask for trials, which are then abandoned: the molecules that are measured lie elsewhere."""
        trials = self._client.get_next_trials(max_trials=count)
        for trial in trials:
            self._client.mark_trial_abandoned(trial_index=trial)
        return np.array([[params[name] for name in self._names] for params in trials.values()], np.float64)
