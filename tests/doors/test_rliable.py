"""The aggregates of reports against the metrics of `rliable` 1.2.

Its bootstrap (`rliable.library`) cannot be imported with pandas 3: it wants arch below 8, which fails there.
"""

import numpy as np
import pandas as pd
import pytest
from rliable import metrics

from graph_bandit_lab.analysis import aggregate_agents
from graph_bandit_lab.analysis.scores import relative_regret

RUNS, TASKS = 7, 9


@pytest.fixture(scope="module")
def trials():
    index = pd.MultiIndex.from_product([range(TASKS), range(RUNS)], names=["environment", "seed"])
    rng = np.random.default_rng(0)
    return pd.DataFrame({name: rng.gamma(2 + k, size=len(index)).round(1) for k, name in enumerate("abc")}, index)


@pytest.fixture(scope="module")
def scores(trials):
    """Scores as `rliable` takes them: runs x tasks of each agent."""
    relative = relative_regret(trials)
    return {label: relative[label].unstack("environment").to_numpy() for label in trials}


def test_the_interquartile_means_are_equal(trials, scores):
    for aggregate in aggregate_agents(trials):
        assert aggregate.middle == pytest.approx(metrics.aggregate_iqm(scores[aggregate.label]), rel=1e-12)


def test_the_probabilities_of_improvement_are_equal_with_ties(trials, scores):
    first, *others = aggregate_agents(trials)
    for aggregate in others:
        theirs = metrics.probability_of_improvement(scores[aggregate.label], scores[first.label])  # that one has more
        assert aggregate.behind == pytest.approx(theirs, rel=1e-12)
