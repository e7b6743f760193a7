import pytest

from graph_bandit_campaign.report.suggest_page import progress_figure
from graph_bandit_campaign.results.facts import Measurement
from graph_bandit_campaign.state import CampaignState


@pytest.mark.parametrize(("maximize", "best"), [(True, [1.0, 3.0, 3.0]), (False, [1.0, 1.0, -2.0])])
def test_bounds_are_the_best_only_from_the_side_of_worse_values(maximize, best):
    told = (("a", 1.0, 0), ("b", 3.0, 1, "above"), ("c", -2.0, 2, "below"))
    state = CampaignState("random", maximize, 0, tuple(Measurement(*row) for row in told))
    (axes,) = progress_figure(state, "y").axes
    assert axes.lines[0].get_ydata().tolist() == best
