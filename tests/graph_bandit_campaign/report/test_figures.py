import pytest

from graph_bandit_campaign import Goal
from graph_bandit_campaign.report.figures import (
    front_figure,
    progress_figure,
)
from graph_bandit_campaign.results.measurement import Measurement
from graph_bandit_campaign.state import CampaignState


@pytest.mark.parametrize(("maximize", "best"), [(True, [1.0, 3.0, 3.0]), (False, [1.0, 1.0, -2.0])])
def test_bounds_are_triangles_and_are_the_best_only_from_the_side_of_worse_values(maximize, best):
    told = (("a", 1.0, 0), ("b", 3.0, 1, "above"), ("c", -2.0, 2, "below"))
    state = CampaignState("random", maximize, 0, tuple(Measurement(*row) for row in told))
    (axes,) = progress_figure(state, "y").axes
    assert axes.lines[0].get_ydata().tolist() == best
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["measured", "above", "below", "best so far"]


def test_the_molecules_on_the_front_are_numbered_among_the_others():
    one, other = Goal("logp", "target", high=2.0), Goal("ki", "minimize")
    values = {"logp": {"a": 1.0, "b": 2.0, "c": 5.0, "d": 7.0}, "ki": {"a": 9.0, "b": 3.0, "c": 4.0}}
    told = [Measurement(key, value, 0, goal=name) for name, known in values.items() for key, value in known.items()]
    state = CampaignState("molecule-ucb", True, 0, tuple(told), goals=(one, other))
    (axes,) = front_figure(state, one, other, ("b", "a")).axes
    others, front = axes.collections
    assert others.get_offsets().tolist() == [[5.0, 4.0]]  # `d` has one result alone
    assert front.get_offsets().tolist() == [[2.0, 3.0], [1.0, 9.0]]
    assert [(text.get_text(), text.xy) for text in axes.texts] == [("1", (2.0, 3.0)), ("2", (1.0, 9.0))]
    (band,) = axes.patches
    assert band.get_extents().transformed(axes.transData.inverted()).x1 == pytest.approx(2.0)
    assert others.get_facecolor().tolist() != front.get_facecolor().tolist()
