"""Choose the results that a model learns from if there are more than it can take."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from graph_bandit_campaign.model.learner import Learner, choose_results
from graph_bandit_campaign.results.facts import Measurement
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import from_smiles


@example([0.0, 1.0, 1.0], 2)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=60), st.integers(2, 40))
def test_the_best_half_is_kept_and_the_others_are_spread_to_the_worst(values, most):
    rewards = np.array(values)
    kept = choose_results(rewards, most)
    assert kept.sum() == min(most, len(rewards))
    assert rewards[kept].max() == rewards.max()
    assert rewards[kept].min() == rewards.min()
    if len(rewards) > most:
        assert np.sort(rewards)[::-1][most // 2 - 1] in rewards[kept]


def test_an_agent_is_taught_no_more_than_it_can_take_and_all_values_of_these():
    molecules = from_smiles(["C" * k for k in range(1, 13)], ids=[f"m{k}" for k in range(1, 13)])
    measured = [Measurement(name, float(k), 0) for k, name in enumerate(molecules.ids)]
    state = CampaignState("molecule-ucb", True, 0, (*measured, Measurement("m12", 13.0, 0)))
    index_of = {name: k for k, name in enumerate(molecules.ids)}
    whole, part = (Learner(molecules, "molecule-ucb", most=most).learn(state, index_of) for most in (None, 4))
    assert whole.results.num_results == 13
    assert part.results.num_results == 5
