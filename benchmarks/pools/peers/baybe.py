"""BayBE with its default recommender, on its default encoding of molecules."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import torch
from baybe import Campaign
from baybe.objectives import SingleTargetObjective
from baybe.parameters import SubstanceParameter
from baybe.searchspace import SearchSpace
from baybe.targets import NumericalTarget

from benchmarks.pools.screening import Floats, Indices


class Baybe:
    """Let a campaign of BayBE choose among the molecules of a pool."""

    def begin(self, graphs: Any, seed: int) -> None:
        """Make a campaign; BayBE draws from the generators of the process, which are seeded."""
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - BayBE's
        torch.manual_seed(seed)
        self._ids, self._told = graphs.ids, 0
        self._index = {identifier: k for k, identifier in enumerate(graphs.ids)}
        molecule = SubstanceParameter("molecule", dict(zip(graphs.ids, graphs.smiles, strict=True)))
        space = SearchSpace.from_product([molecule])
        objective = SingleTargetObjective(NumericalTarget("value"))
        self._campaign = Campaign(space, objective, allow_recommending_already_measured=False)

    def choose(self, measured: Indices, values: Floats, count: int) -> Indices:
        """Return what the campaign recommends."""
        new = [self._ids[index] for index in measured[self._told :]]
        self._campaign.add_measurements(pd.DataFrame({"molecule": new, "value": values[self._told :]}))
        self._told = len(measured)
        recommended = self._campaign.recommend(batch_size=count)["molecule"]
        return np.array([self._index[identifier] for identifier in recommended], np.int64)
